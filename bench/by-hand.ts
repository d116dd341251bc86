/**
 * The same runtime on the same store, driven by hand: booted over copies of the disks as they stood at each cut, run to
 * its end, and nothing else. No gate stops, no timeline is kept, no checker looks.
 */
import { Gate, type Scenario, Timeline, World } from "../src/faults/index.ts";
import { idsOfIncarnation, VIRTUAL_EPOCH_MS, VirtualClock } from "../src/foundation/index.ts";
import { AgentHarness } from "../src/harness/index.ts";
import { Session } from "../src/session/index.ts";
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

/** Prepares a copy of the disk for each cut of the scenario; `tears` as the medium tears a commit. */
export async function byHand(
  subject: Subject,
  medium: Medium,
  scenario: Scenario,
  folder: string,
): Promise<Timed> {
  const disks = await disksAtCuts(subject, scenario, folder);
  return async () => {
    for (const disk of disks) {
      const copy = disk.fork(folder);
      await runToEnd(medium, copy, scenario);
      medium.dump(copy);
      copy.dispose();
    }
    return disks.length;
  };
}

async function runToEnd(medium: Medium, disk: Disk, scenario: Scenario): Promise<void> {
  const clock = new VirtualClock(VIRTUAL_EPOCH_MS + DOWNTIME_MS);
  const { storage } = await medium.open(disk, { clock });
  const world = new World(scenario, clock);
  const access = { gate: new Gate({ open: true }), timeline: new Timeline() };
  const session = new Session({ storage, metadata: METADATA, idGenerator: idsOfIncarnation(1, 1, clock) });
  const { harness, suspended } = await AgentHarness.create({
    session,
    models: new ScriptedModels(world, access, new Map()),
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
    for (const stimulus of scenario.stimuli) await harness.prompt(stimulus.text);
  }
  await harness.close();
}

/** Copies of the disk at every cut that the explorer makes. */
async function disksAtCuts(subject: Subject, scenario: Scenario, folder: string): Promise<Disk[]> {
  const disk = await subject.provision({ seed: 1, folder });
  const world = new World(scenario, new VirtualClock());
  const gate = new Gate({ open: false });
  const timeline = new Timeline();
  const life = subject.boot({
    disk,
    world,
    scenario,
    seed: 1,
    incarnation: 0,
    gate,
    timeline,
    drive: "automatic",
    isNamed: false,
  });
  const disks = [disk.fork(folder)];
  for (;;) {
    await gate.quiet(life.life);
    const [boundary] = gate.parked;
    if (boundary === undefined) break;
    disks.push(disk.fork(folder));
    const size = boundary.kind === "commit" ? disk.size() : undefined;
    gate.release(boundary);
    await gate.quiet(life.life);
    if (boundary.kind === "effect") disks.push(disk.fork(folder));
    if (size !== undefined) disks.push(...disk.tear(size, folder).map((torn) => torn.disk));
    disks.push(disk.fork(folder));
  }
  await life.close();
  disk.dispose();
  return disks;
}
