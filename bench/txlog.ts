/** What the transactional session costs: loading a long file, and a commit as the session grows. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { idsOfIncarnation, VirtualClock } from "../src/foundation/index.ts";
import {
  createSession,
  type FileSessionStore,
  type NewFact,
  NodeSessionFiles,
  reduce,
  WriterLocks,
} from "../src/txlog/index.ts";
import { compare, type Timed } from "./measure.ts";

const LOADED_TRANSACTIONS = 50_000;

export async function benchTxlog(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "crashproof-bench-"));
  try {
    await benchLoad(await grown(folder, LOADED_TRANSACTIONS));
    const [short, large] = [await grown(folder, 100), await grown(folder, 100_000)];
    await compare({
      name: "txlog commit at 100,000 transactions / at 100",
      ours: () => commits(large),
      floor: () => commits(short),
      unit: "commit",
      goal: { timesMax: 1.15 },
    });
    await short.close();
    await large.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchLoad(store: FileSessionStore): Promise<void> {
  await store.close();
  const bytes = readFileSync(store.path);
  const lines = bytes.toString("utf8").split("\n").slice(0, -1);
  await compare({
    name: `txlog load of ${LOADED_TRANSACTIONS} transactions / JSON.parse of the lines`,
    ours: () => () => {
      if (!reduce(bytes).ok) throw new Error("the bench made a file that is refused");
      return 1;
    },
    floor: () => () => {
      let kept = 0;
      for (const line of lines) if (JSON.parse(line) !== null) kept++;
      return kept > 0 ? 1 : 0;
    },
    unit: "load",
    goal: { timesMax: 3 },
  });
}

/** A session of that many transactions: user messages and runs that fail, over and over. */
async function grown(folder: string, transactionCount: number): Promise<FileSessionStore> {
  const clock = new VirtualClock();
  const ids = idsOfIncarnation(transactionCount, 0, clock);
  const host = { files: new NodeSessionFiles(), clock, ids, locks: new WriterLocks() };
  const store = await createSession(host, { cwd: folder, model: "bench", environmentIdentity: "bench" });
  for (let count = 0; count < transactionCount; count += 2) {
    // As far apart as turns are: a clock that stands still says one round number everywhere.
    clock.step(TURN_MS);
    await turn(store);
  }
  return store;
}

/** Two transactions: a prompt with its run, and the end of the run. */
async function turn(store: FileSessionStore): Promise<void> {
  const inputEntryId = store.nextId();
  const operationId = store.nextId();
  const prompt: NewFact[] = [
    {
      kind: "entry",
      id: inputEntryId,
      entry: { type: "message", message: { role: "user", content: PROMPT } },
    },
    { kind: "record", record: { type: "runStarted", operationId, operationKind: "run", inputEntryId } },
  ];
  await store.commit(prompt);
  await store.commit([
    {
      kind: "record",
      record: {
        type: "operationFinished",
        operationId,
        operationKind: "run",
        outcome: "failed",
        error: { code: "bench", message: "the bench asks nobody" },
      },
    },
  ]);
}

function commits(store: FileSessionStore): Timed {
  return async () => {
    for (let count = 0; count < 500; count++) await turn(store);
    return 1000;
  };
}

const TURN_MS = 7_309;
const PROMPT = "A prompt about as long as prompts are, with a question or two in it. ".repeat(4);
