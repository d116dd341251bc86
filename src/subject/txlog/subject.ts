/** The transactional session as a subject. */
import { join } from "node:path";
import { expectTxlogRecovery, startTxlogJudge, viewOfTxlog } from "../../checkers/index.ts";
import type { MeanwhileCall, Moment, Scenario, Stimulus } from "../../faults/index.ts";
import { absurd, idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import { createSession, TRANSACTION_LABELS, WriterLocks } from "../../txlog/index.ts";
import type { Disk, Subject } from "../contract.ts";
import { TxlogDisk } from "./disk.ts";
import { SESSION_FILE_FAULTS } from "./faulty-files.ts";
import { startTxlogLife, type TxlogSeams } from "./life.ts";
import { ENVIRONMENT, MODEL, TXLOG_WORLD_FAULTS } from "./scripted-world.ts";

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
    worldFaults: TXLOG_WORLD_FAULTS,
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

function reasonToSkip(scenario: Scenario): string | undefined {
  const { tools, turns, stimuli, meanwhile, decisions, runEnd, lanes } = scenario;
  if (lanes !== undefined) return "a session of this system has one lane";
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
  const doesCompact = stimuli.some(({ call }) => call === "compact");
  for (const call of stimuli) {
    const reason = reasonToSkipCall(call);
    if (reason !== undefined) return reason;
  }
  for (const call of meanwhile ?? []) {
    const reason = reasonToSkipCall(call) ?? reasonToSkipMoment(call.while, doesCompact);
    if (reason !== undefined) return reason;
  }
  if (doesCompact && decisions !== undefined) return "this system has no hooks";
  return undefined;
}

function reasonToSkipCall(call: Stimulus | MeanwhileCall): string | undefined {
  switch (call.call) {
    case "prompt":
    case "abort":
      return undefined;
    case "compact":
      if (call.refused !== undefined) return "this system compacts whenever there is a message";
      if (call.customInstructions !== undefined) return "a compaction of this system takes no instructions";
      return undefined;
    case "navigateTree":
      return "a session of this system is no tree";
    case "setThinkingLevel":
    case "setName":
    case "createLane":
    case "recordUsage":
      return "this system notes nothing beside the conversation";
    case "steer":
    case "followUp":
    case "nextRun":
    case "cancelQueued":
      return "this system has no queues";
    case "appendMessage":
    case "appendCustom":
      return "an application writes nothing but prompts into a session of this system";
    default:
      return absurd(call, "call");
  }
}

function reasonToSkipMoment(moment: Moment, doesCompact: boolean): string | undefined {
  if ("retryOf" in moment) return "a failed answer is final in this system";
  if ("suspendedAt" in moment) return "an answer cannot be deferred in this system";
  if ("decision" in moment) return "this system has no hooks";
  if ("turn" in moment && (moment.ask ?? 1) > 1) return "a turn is asked once in this system";
  if ("summary" in moment && !doesCompact) return "this system does not compact by itself";
  if ("summary" in moment && (moment.request ?? 0) > 0) return "a summary is one request in this system";
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
