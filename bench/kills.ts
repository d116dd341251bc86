/**
 * Real kills: states a second, beside a bare child with as many sessions (`bare-child.ts`), on a memory file system
 * where the machine has one and on disk. States and kills are counted apart: one kill leaves the state of every session
 * that its child holds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import twoTools from "../scenarios/two-tools.ts";
import { exploreKills, type KillTarget, runContext, simulateDeaths, Watchdog } from "../src/explore/index.ts";
import { RealClock } from "../src/foundation/index.ts";
import { builtInSubjects } from "../src/subject/index.ts";
import {
  childProgram,
  KillPool,
  type KillRequest,
  openScratch,
  type Scratch,
} from "../src/subprocess/index.ts";
import { compare } from "./measure.ts";

/** Each death is died so often in one measurement, to fill several children of 64 sessions. */
const REPETITIONS = 5;

export async function benchKills(): Promise<void> {
  const entry = fileURLToPath(new URL("./bare-child.ts", import.meta.url));
  const clock = new RealClock();
  const watchdog = new Watchdog(clock);
  const ours = new KillPool({ clock, program: await childProgram() });
  const bare = new KillPool({ clock, program: await childProgram({ entry }) });
  const memory = openScratch();
  const disk = openScratch([tmpdir()]);
  try {
    ours.warm();
    bare.warm();
    for (const subject of builtInSubjects().filter(({ grade }) => grade !== "memory")) {
      for (const scratch of memory.isInMemory ? [memory, disk] : [disk]) {
        const context = runContext(twoTools, subject, 1, { clock, folder: scratch.folder }, watchdog, []);
        const deaths = await simulateDeaths(context, () => true);
        const targets = Array.from({ length: REPETITIONS }, () => ({ context, deaths }));
        await comparePools({ ours, bare, scratch, targets });
      }
    }
  } finally {
    watchdog.stop();
    await Promise.all([ours.close(), bare.close()]);
    memory.remove();
    disk.remove();
  }
}

async function comparePools(parts: {
  ours: KillPool;
  bare: KillPool;
  scratch: Scratch;
  targets: readonly KillTarget[];
}): Promise<void> {
  const { ours, bare, scratch, targets } = parts;
  const [first] = targets;
  if (first === undefined) throw new Error("nothing to kill");
  const before = ours.counts;
  await compare({
    name: `${first.context.subject.id} in ${scratch.isInMemory ? "memory" : "files"}: killed for real / bare child`,
    ours: () => () => killed(targets, ours, scratch.folder),
    floor: () => () => barelyKilled(targets, bare, scratch.folder),
    unit: "state",
    goal: { rateShareMin: 0.6 },
  });
  const states = ours.counts.states - before.states;
  const kills = ours.counts.kills - before.kills;
  process.stdout.write(`       ${states} states were left by ${kills} kills\n`);
}

/** Dies all deaths, and holds each survivor against the simulation. */
async function killed(targets: readonly KillTarget[], pool: KillPool, folder: string): Promise<number> {
  let stateCount = 0;
  await exploreKills(targets, pool, folder, (_target, { id, violations, inconclusive }) => {
    if (violations.length > 0 || inconclusive !== undefined) throw new Error(`${id} did not survive`);
    stateCount++;
  });
  return stateCount;
}

/** As many sessions at the same places, killed, and nothing looked at. */
async function barelyKilled(targets: readonly KillTarget[], pool: KillPool, folder: string): Promise<number> {
  const own = mkdtempSync(join(folder, "bare-"));
  const requests = targets.flatMap(({ context, deaths }, target) => {
    const { subject, scenario, seed } = context;
    let crossedCount = -1;
    return deaths.map(({ cut }, index): KillRequest => {
      if (cut.position === "before") crossedCount++;
      const occurrence = cut.position === "before" ? crossedCount : crossedCount + 1;
      const place = { label: "boundary", occurrence, position: "before" as const };
      return { subject: subject.id, scenario, seed, cut: place, folder: join(own, `${target}-${index}`) };
    });
  });
  let stateCount = 0;
  for await (const outcome of pool.kill(requests)) {
    if (outcome.kind !== "killed") throw new Error(outcome.doubt.message);
    stateCount++;
  }
  rmSync(own, { recursive: true });
  return stateCount;
}
