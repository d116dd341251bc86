/** The harness on one medium, as a subject. */
import {
  accountOf,
  CATALOGUE,
  expectRecovery,
  labelOf,
  StoreModel,
  startHarnessJudge,
  storyOf,
  viewOf,
} from "../../checkers/index.ts";
import type { TimelineEvent } from "../../faults/index.ts";
import { idsOfIncarnation, VIRTUAL_EPOCH_MS, VirtualClock } from "../../foundation/index.ts";
import type { Write } from "../../model/index.ts";
import { CURRENT_STORAGE_VERSION, type SessionMetadata } from "../../storage/index.ts";
import type { Boot, Disk, Subject } from "../contract.ts";
import { type Seams, startLife } from "./life.ts";
import type { Medium, StoreLife } from "./medium.ts";
import { HARNESS_WORLD_FAULTS } from "./world-faults.ts";

/** Makes the subject. `id` and `seams` are for canaries; the right system has the id of its medium and no seams. */
export function harnessSubject<D extends Disk>(
  medium: Medium<D>,
  options: { readonly id?: string; readonly seams?: Seams } = {},
): Subject {
  // A subject is only handed disks that it made itself.
  const own = (disk: Disk) => disk as D;
  return {
    id: options.id ?? medium.id,
    title: medium.title,
    grade: medium.grade,
    family: "harness",
    rows: CATALOGUE.map((row) => row.name),
    drives: ["automatic", "manual"],
    mediumFaults: medium.faults,
    worldFaults: HARNESS_WORLD_FAULTS,
    provision: ({ seed, folder }) => medium.provision(metadataOf(seed), folder),
    attach: (folder) => medium.attach(folder),
    boot: (boot) => {
      const parts = {
        metadata: metadataOf(boot.seed),
        open: () => medium.open(own(boot.disk), storeLifeOf(boot)),
        dump: () => medium.dump(own(boot.disk)),
        label: boot.isNamed ? namer(medium, own(boot.disk), boot) : () => "commit",
        seams: options.seams ?? {},
      };
      return startLife(parts, boot);
    },
    view: async (disk, { downtimes }) => viewOf(medium.dump(own(disk)), { downtimes }),
    story: storyOf,
    account: accountOf,
    judge: startHarnessJudge,
    expect: expectRecovery,
  };
}

function storeLifeOf({ world, mediumFault }: Boot): StoreLife {
  const { clock } = world;
  return mediumFault === undefined ? { clock } : { clock, fault: mediumFault };
}

/**
 * Names commits by the specification's rows: folds what was committed, from what the disk holds before the first one. It
 * is read then and not at boot: a disk that cannot be read is for the life to refuse. What happened outside until then
 * is folded too: a result is named by whether its call ran in this life.
 */
function namer<D extends Disk>(medium: Medium<D>, disk: D, boot: Boot): (writes: readonly Write[]) => string {
  let model: StoreModel | undefined;
  const early: TimelineEvent[] = [];
  boot.timeline.listen((event) => {
    if (model === undefined) early.push(event);
    else model.observe(event);
  });
  return (writes) => {
    if (model === undefined) {
      model = StoreModel.of(medium.dump(disk));
      for (const event of early) model.observe(event);
    }
    return labelOf(writes, model);
  };
}

/** The session of a seed: the same in every process. */
function metadataOf(seed: number): SessionMetadata {
  const known = sessions.get(seed);
  if (known !== undefined) return known;
  const id = idsOfIncarnation(seed, -1, new VirtualClock()).next();
  const metadata = { id, createdAt: VIRTUAL_EPOCH_MS, storageVersion: CURRENT_STORAGE_VERSION };
  sessions.set(seed, metadata);
  return metadata;
}

const sessions = new Map<number, SessionMetadata>();
