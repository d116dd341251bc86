/**
 * A subject for the tests of this room: a ladder, climbed rung by rung, small enough to be seen through.
 *
 * Each rung is one request to the world and one commit `rung`. What is durable is what is written on the rungs. After
 * a crash a life goes on where the ladder ends. Its flaws are the ways in which a subject can break what explorers
 * judge; without any it is right.
 */
import type { CheckerRun } from "../../checkers/index.ts";
import type { Scenario } from "../../faults/index.ts";
import { canonicalJson } from "../../foundation/index.ts";
import type { Boot, Disk, Grade, Incarnation, RunEnd, Subject } from "../../subject/index.ts";

const RUNG_COUNT = 2;

/** The ladder has `RUNG_COUNT` rungs, whatever the scenario says; its words are the scripted answers. */
export const CLIMB: Scenario = {
  name: "climb",
  title: "two rungs",
  settings: {},
  tools: [],
  turns: [
    [{ text: "left", stopReason: "stop", usage: { input: 1, output: 1 } }],
    [{ text: "right", stopReason: "stop", usage: { input: 1, output: 1 } }],
  ],
  stimuli: [],
};

/** What a ladder does otherwise than it should. */
export interface Flaws {
  /** What is written on a rung. */
  readonly word?: (boot: Boot, rung: number, word: string) => string;
  /** Awaited before each rung; may throw, or never settle. */
  readonly beforeRung?: (boot: Boot, rung: number) => Promise<void> | undefined;
  readonly neverEnds?: true;
  readonly close?: () => Promise<void>;
  /** Called with the rungs before they are shown; may throw. */
  readonly view?: (rungs: readonly string[]) => void;
  readonly expect?: Subject["expect"];
  readonly judge?: () => CheckerRun<RunEnd>;
  /** Whether an owner may write after another one has booted. */
  readonly takesStaleOwners?: true | "while another holds it" | "once it was let go";
}

class LadderDisk implements Disk {
  readonly rungs: string[];
  /** The life that booted last. */
  owner: Boot | undefined;
  /** Whether the owner was closed. */
  isReleased = false;

  constructor(rungs: readonly string[]) {
    this.rungs = [...rungs];
  }

  fork(): LadderDisk {
    return new LadderDisk(this.rungs);
  }

  size(): undefined {
    return undefined;
  }

  tear(): readonly never[] {
    return [];
  }

  imprint(): readonly unknown[] {
    return [...this.rungs];
  }

  dispose(): void {}
}

/** The subject; see the module header. */
export function ladder(
  flaws: Flaws = {},
  { id = "ladder", grade = "memory" as Grade, drives = ["automatic"] as Subject["drives"] } = {},
): Subject {
  return {
    id,
    title: "a ladder",
    grade,
    rows: ["rung", "never-climbed"],
    drives,
    family: "ladders",
    provision: async () => new LadderDisk([]),
    attach: () => undefined,
    boot: (boot) => climb(boot, flaws),
    view: async (disk) => {
      const { rungs } = disk as LadderDisk;
      flaws.view?.(rungs);
      const text = canonicalJson({ rungs });
      return { exact: text, canonical: text };
    },
    judge: flaws.judge ?? silentJudge,
    expect:
      flaws.expect ?? (async ({ uninterrupted }) => ({ canonical: uninterrupted.canonical, demands: [] })),
  };
}

/** A judge that finds nothing. */
export function silentJudge(): CheckerRun<RunEnd> {
  return { observe: () => undefined, fork: silentJudge, finish: () => [] };
}

function climb(boot: Boot, flaws: Flaws): Incarnation {
  const disk = boot.disk as LadderDisk;
  disk.owner = boot;
  disk.isReleased = false;
  const close = async () => {
    disk.isReleased = true;
    await flaws.close?.();
  };
  return { life: life(boot, disk, flaws), drop: () => undefined, close };
}

async function life(boot: Boot, disk: LadderDisk, flaws: Flaws): Promise<void> {
  const { world, gate, timeline } = boot;
  const word = flaws.word ?? ((_boot, _rung, text) => text);
  for (let rung = disk.rungs.length; rung < RUNG_COUNT || flaws.neverEnds; rung++) {
    await flaws.beforeRung?.(boot, rung);
    const { text = "" } = await world.request({ gate, timeline }, rung % RUNG_COUNT, 1);
    await gate.pass("commit", "rung", (boundary) => {
      if (disk.owner !== boot && !takesStaleOwner(disk, flaws))
        throw new Error("the ladder has another owner");
      disk.rungs.push(word(boot, rung, text));
      timeline.push({ kind: "commit", boundary, payload: undefined });
    });
  }
}

function takesStaleOwner({ isReleased }: LadderDisk, { takesStaleOwners }: Flaws): boolean {
  if (typeof takesStaleOwners !== "string") return takesStaleOwners === true;
  return isReleased === (takesStaleOwners === "once it was let go");
}
