/**
 * A run of a scenario, recorded once: its commits, and how many of them were durable at each place where the explorer
 * cuts it. Floors replay these commits without any runtime.
 */
import { Gate, type RecordedCommit, type Scenario, Timeline, World } from "../src/faults/index.ts";
import { VirtualClock } from "../src/foundation/index.ts";
import type { Write } from "../src/model/index.ts";
import type { Subject } from "../src/subject/index.ts";

export interface RecordedRun {
  /** The writes of each commit, in order. */
  readonly commits: readonly (readonly Write[])[];
  /** For each cut of the explorer: the number of commits that were durable. */
  readonly cuts: readonly number[];
}

/** Runs the scenario on a subject and records it, with the places where the medium tears its commits. */
export async function recordRun(subject: Subject, scenario: Scenario, folder: string): Promise<RecordedRun> {
  const world = new World(scenario, new VirtualClock());
  const disk = await subject.provision({ seed: 1, folder });
  const timeline = new Timeline();
  const tearCounts: number[] = [];
  let sizeBefore = disk.size();
  timeline.listen(({ kind }) => {
    if (kind !== "commit") return;
    const torn = sizeBefore === undefined ? [] : disk.tear(sizeBefore, folder);
    tearCounts.push(torn.length);
    sizeBefore = disk.size();
  });
  const gate = new Gate({ open: true });
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
  await life.life;
  await life.close();
  disk.dispose();
  const commits: (readonly Write[])[] = [];
  const cuts: number[] = [0];
  for (const event of timeline.events) {
    if (event.kind === "commit") {
      for (let copy = 0; copy <= (tearCounts[commits.length] ?? 0); copy++) cuts.push(commits.length);
      commits.push((event.payload as RecordedCommit).writes);
      cuts.push(commits.length);
    } else if (event.kind === "effect") {
      for (let position = 0; position < 3; position++) cuts.push(commits.length);
    }
  }
  return { commits, cuts };
}
