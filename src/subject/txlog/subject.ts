/** The transactional session as a subject. */
import { join } from "node:path";
import { expectTxlogRecovery, startTxlogJudge, viewOfTxlog } from "../../checkers/index.ts";
import type { Scenario } from "../../faults/index.ts";
import { idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import { createSession, TRANSACTION_LABELS, WriterLocks } from "../../txlog/index.ts";
import type { Disk, Subject } from "../contract.ts";
import { TxlogDisk } from "./disk.ts";
import { SESSION_FILE_FAULTS } from "./faulty-files.ts";
import { startTxlogLife, type TxlogSeams } from "./life.ts";
import { ENVIRONMENT, MODEL } from "./scripted-world.ts";

/** Makes the subject. `id` and `seams` are for canaries. */
export function txlogSubject(options: { readonly id?: string; readonly seams?: TxlogSeams } = {}): Subject {
  // A subject is only handed disks that it made itself.
  const own = (disk: Disk) => disk as TxlogDisk;
  return {
    id: options.id ?? "txlog",
    title: "the transactional session, one append a transaction",
    grade: "process-crash",
    family: "txlog",
    rows: TRANSACTION_LABELS,
    drives: ["automatic"],
    mediumFaults: SESSION_FILE_FAULTS,
    skips: reasonToSkip,
    provision: async ({ seed, folder }) => {
      const disk = TxlogDisk.onHost(nextFolder(folder));
      const clock = new VirtualClock();
      const host = {
        files: disk.fileSystem,
        clock,
        ids: idsOfIncarnation(seed, -1, clock),
        locks: new WriterLocks(),
      };
      const session = { cwd: disk.cwd, model: MODEL, provider: "scripted", environmentIdentity: ENVIRONMENT };
      const store = await createSession(host, session);
      await store.close();
      return disk;
    },
    attach: (folder) => TxlogDisk.onHost(join(folder, SESSION_FOLDER)),
    boot: (boot) => startTxlogLife(own(boot.disk), sessionId(boot.seed), boot, options.seams ?? {}),
    view: async (disk) => viewOfTxlog(own(disk).bytes()),
    judge: startTxlogJudge,
    expect: expectTxlogRecovery,
  };
}

function reasonToSkip({ tools, turns, stimuli, meanwhile, runEnd }: Scenario): string | undefined {
  if (tools.some(({ does }) => does.kind === "answers" && does.terminate === true)) {
    return "a tool cannot end a run in this system";
  }
  if (tools.some(({ preparesByLife }) => preparesByLife)) return "this system does not prepare arguments";
  if (tools.some(({ replayAfterRestart }) => replayAfterRestart)) {
    return "the scripted world declares the tools of this system once";
  }
  if (turns.flat().some(({ stopReason }) => stopReason === "deferred")) {
    return "an answer cannot be deferred in this system";
  }
  if (runEnd !== undefined) return "this system has no hooks";
  if (meanwhile !== undefined || stimuli.some(({ call }) => call !== "prompt")) {
    return "an application can only prompt this system";
  }
  return undefined;
}

/** The id of the session of a seed: the first that its provisioning mints. */
function sessionId(seed: number): string {
  return idsOfIncarnation(seed, -1, new VirtualClock()).next();
}

const SESSION_FOLDER = "txlog";
const provisioned = new Set<string>();

/** The first session of a folder has a name that another process can find; the next ones are numbered. */
function nextFolder(folder: string): string {
  const first = join(folder, SESSION_FOLDER);
  const path = provisioned.has(first) ? `${first}-${provisioned.size}` : first;
  provisioned.add(path);
  return path;
}
