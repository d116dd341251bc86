/** Workers find what one process finds, and a worker that fails is never taken for one that found nothing. */
import { beforeAll, describe, expect, it } from "vitest";
import oneTurn from "../../../scenarios/one-turn.ts";
import { builtInSubjects } from "../../subject/index.ts";
import { type ChildProgram, childProgram } from "../../subprocess/index.ts";
import { explore } from "../explore.ts";
import type { ExplorePlan } from "../plan.ts";
import type { ExploreResult } from "../result.ts";
import { plan, scratchHost } from "../testing/explorations.ts";
import { ladder } from "../testing/ladder.ts";

const host = scratchHost();
let program: ChildProgram;
beforeAll(async () => {
  program = await childProgram({ name: "worker" });
}, 60_000);

const inWorkers = (of: ExplorePlan) => explore(of, { ...host, workers: { count: 2, program } });

/** Without host times. */
function timeless(result: ExploreResult): ExploreResult {
  return { ...result, elapsedMs: 0, groups: result.groups.map((group) => ({ ...group, perSecond: 0 })) };
}

describe("workers", () => {
  it("find what one process finds, byte for byte but for times, and tell of every group that is over", async () => {
    const both = plan(
      builtInSubjects().filter(({ id }) => id !== "sqlite"),
      {
        scenarios: [oneTurn],
        skip: ["generation.intent", "never-made"],
        torn: { places: 1, flips: 0, commitsMax: 1, recoverEach: false },
      },
    );
    const over: string[] = [];
    const found = await explore(both, {
      ...host,
      workers: { count: 2, program },
      progress: ({ group, isOver }) => {
        if (isOver === true) over.push(group);
      },
    });
    expect(found.notReached).toEqual(["never-made"]);
    expect(found.totals.survived).toBeGreaterThan(50);
    expect(JSON.stringify(timeless(found))).toBe(JSON.stringify(timeless(await explore(both, host))));
    const groups = ["memory", "jsonl", "txlog"].map((id) => `one-turn on ${id}`);
    expect(over.toSorted()).toEqual(
      [...groups, "torn of one-turn on jsonl", "torn of one-turn on txlog"].toSorted(),
    );
  }, 60_000);

  it("that fail end the exploration, and say at which unit", async () => {
    const strange = plan([ladder(), ladder({}, { id: "other" })]);
    await expect(inWorkers(strange)).rejects.toThrow(
      /the worker that explored crash\/climb\/(ladder|other) failed: .*no subject is called "ladder" here/,
    );
  });
});
