/**
 * One life of a process over a transactional session: open it, and let its application drive it.
 */
import { type Moment, stopsIn } from "../../faults/index.ts";
import { idsOfIncarnation } from "../../foundation/index.ts";
import {
  type FileSessionStore,
  labelOfTransaction,
  openSession,
  operationsIn,
  type RecoverableStore,
  SessionDriver,
  type SessionFiles,
  type SessionState,
  WriterLocks,
} from "../../txlog/index.ts";
import type { Boot, Incarnation } from "../contract.ts";
import { steppingClock } from "../stepping-clock.ts";
import { TxlogApplication } from "./application.ts";
import type { TxlogDisk } from "./disk.ts";
import { faultySessionFiles } from "./faulty-files.ts";
import { declarationOf, ScriptedTxlogWorld } from "./scripted-world.ts";
import { StoppableFiles } from "./stoppable-files.ts";

/** Seams for defects, as the harness has them: above and below the judges' eye. The right system has none. */
export interface TxlogSeams {
  readonly runtimeStore?: (store: RecoverableStore, boot: Boot) => RecoverableStore;
  readonly mediumStore?: (store: RecoverableStore, boot: Boot) => RecoverableStore;
  /** Under the store: what it takes for its file system. */
  readonly files?: (files: SessionFiles, boot: Boot) => SessionFiles;
}

/** Begins the life. */
export function startTxlogLife(disk: TxlogDisk, id: string, boot: Boot, seams: TxlogSeams): Incarnation {
  let store: FileSessionStore | undefined;
  const work = async (): Promise<void> => {
    const { world, seed, incarnation, scenario, gate, timeline, mediumFault, disturbance } = boot;
    const clock = steppingClock(world.clock, timeline, disturbance);
    const { fileSystem } = disk;
    const system = mediumFault === undefined ? fileSystem : faultySessionFiles(fileSystem, mediumFault);
    const files = new StoppableFiles(seams.files?.(system, boot) ?? system);
    const ids = idsOfIncarnation(seed, incarnation, clock);
    // A writer lock is held in the memory of a process: every life has its own.
    store = await openSession({ files, clock, ids, locks: new WriterLocks() }, disk.cwd, id);
    const seen = observed(seams.mediumStore?.(store, boot) ?? store, boot, files);
    const runtimeStore = seams.runtimeStore?.(seen, boot) ?? seen;
    const application = new TxlogApplication(scenario, () => operationsIn(disk.bytes()));
    const surroundings = {
      turn: () => runtimeStore.consult(({ state }) => countAnswers(state)),
      task: () => application.task(),
      during: (moment: Moment) => application.during(moment),
    };
    const driver = new SessionDriver({
      store: runtimeStore,
      world: new ScriptedTxlogWorld(world, { gate, timeline, life: incarnation }, surroundings),
      ids,
      process: declarationOf(scenario),
    });
    await application.live(driver);
  };
  return {
    life: work(),
    drop: () => boot.gate.drop(),
    close: async () => {
      await store?.close();
    },
  };
}

function countAnswers({ transcript }: SessionState): number {
  return transcript.filter(({ role }) => role === "assistant").length;
}

/** The store with every commit passing the gate and written into the timeline. */
function observed(store: RecoverableStore, boot: Boot, files: StoppableFiles): RecoverableStore {
  const { gate, timeline, mediumStop } = boot;
  return {
    commit: (facts) =>
      gate.pass("commit", labelOfTransaction(facts), async (boundary) => {
        if (stopsIn(mediumStop, boundary))
          files.stopAfter(mediumStop.bytesWritten, () => mediumStop.reached());
        try {
          const committed = await store.commit(facts);
          timeline.push({ kind: "commit", boundary, payload: committed });
          return committed;
        } catch (error) {
          const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
          timeline.push({ kind: "commit-failed", boundary, payload: facts, error: text });
          throw error;
        }
      }),
    load: () => store.load(),
    consult: (read) => store.consult(read),
    close: () => store.close(),
  };
}
