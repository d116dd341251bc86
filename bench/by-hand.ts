/**
 * The same runtime on the same store, driven by hand through the same states: run once, with a copy of the disk wherever
 * a death would leave something else; then each copy is run to its end and read. No gate stops, no timeline is kept, no
 * checker looks, nothing is compared.
 */
import { Gate, type Scenario, Timeline, World } from "../src/faults/index.ts";
import { idsOfIncarnation, VIRTUAL_EPOCH_MS, VirtualClock } from "../src/foundation/index.ts";
import { AgentHarness } from "../src/harness/index.ts";
import { Session } from "../src/session/index.ts";
import type { Storage } from "../src/storage/index.ts";
import {
  type Disk,
  type Medium,
  SCRIPTED_MODEL,
  ScriptedModels,
  type Subject,
  scriptedTools,
} from "../src/subject/index.ts";
import type { Timed } from "./measure.ts";

const METADATA = { id: "bench", createdAt: VIRTUAL_EPOCH_MS, storageVersion: 1 };
const DOWNTIME_MS = 60_000;

/** @param stateCount the deaths for which these recoveries stand; what is measured is said for one of them. */
export function byHand(
  subject: Subject,
  medium: Medium,
  scenario: Scenario,
  folder: string,
  stateCount: number,
): Timed {
  return async () => {
    for (const copy of await copiesOfRun(subject, medium, scenario, folder)) {
      await runToEnd(medium, copy, scenario, 1);
      medium.dump(copy);
      copy.dispose();
    }
    return stateCount;
  };
}

/** Runs once. Copies the disk at the start, after each effect and each commit, and wherever a commit can be torn. */
async function copiesOfRun(
  subject: Subject,
  medium: Medium,
  scenario: Scenario,
  folder: string,
): Promise<Disk[]> {
  const disk = await subject.provision({ seed: 1, folder });
  const copies = [disk.fork(folder)];
  let sizeBefore = disk.size();
  await runToEnd(medium, disk, scenario, 0, {
    effect: () => copies.push(disk.fork(folder)),
    commit: () => {
      if (sizeBefore !== undefined) copies.push(...disk.tear(sizeBefore, folder).map(({ make }) => make()));
      sizeBefore = disk.size();
      copies.push(disk.fork(folder));
    },
  });
  disk.dispose();
  return copies;
}

/** Called after each effect and each commit of a life. */
interface Watching {
  effect(): void;
  commit(): void;
}

async function runToEnd(
  medium: Medium,
  disk: Disk,
  scenario: Scenario,
  incarnation: number,
  watching?: Watching,
): Promise<void> {
  const clock = new VirtualClock(VIRTUAL_EPOCH_MS + incarnation * DOWNTIME_MS);
  const { storage } = await medium.open(disk, { clock });
  const timeline = new Timeline();
  if (watching !== undefined) {
    timeline.listen(watching.effect);
    watchCommits(storage, watching.commit);
  }
  const world = new World(scenario, clock);
  const access = { gate: new Gate({ open: true }), timeline };
  const idGenerator = idsOfIncarnation(1, incarnation, clock);
  const session = new Session({ storage, metadata: METADATA, idGenerator });
  const { harness, suspended } = await AgentHarness.create({
    session,
    models: new ScriptedModels(world, access, storage),
    model: SCRIPTED_MODEL,
    tools: scriptedTools(scenario, world, access, 1),
    ...(scenario.settings.retry === undefined ? {} : { retry: { ...scenario.settings.retry } }),
    ...(scenario.settings.toolExecution === undefined
      ? {}
      : { toolExecution: scenario.settings.toolExecution }),
    clock,
  });
  if (suspended.length > 0) await harness.resume();
  else if ((await harness.getLastResult()) === undefined) {
    for (const stimulus of scenario.stimuli) if ("text" in stimulus) await harness.prompt(stimulus.text);
  }
  await harness.close();
}

function watchCommits(storage: Storage, committed: () => void): void {
  const commit = storage.commit.bind(storage);
  storage.commit = async (transaction) => {
    const result = await commit(transaction);
    committed();
    return result;
  };
}
