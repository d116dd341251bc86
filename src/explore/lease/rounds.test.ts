/** A round in which a process is lost shows nothing: who is gone was not kept out, and changed nothing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Subject } from "../../subject/index.ts";
import type { ContenderCommand, ContenderState } from "../../subprocess/index.ts";
import { runContext } from "../plan.ts";
import { scratchHost } from "../testing/explorations.ts";
import { CLIMB, ladder } from "../testing/ladder.ts";
import { Watchdog } from "../watchdog.ts";
import type { Opener } from "./ring.ts";
import { raceRound, secondOpenerRound } from "./rounds.ts";
import type { Stand } from "./stands.ts";

const host = scratchHost();
let watchdog: Watchdog;
beforeAll(() => {
  watchdog = new Watchdog(host.clock);
});
afterAll(() => watchdog.stop());

const GONE: ContenderState = { at: "refused", name: "ProcessGone", message: "the process is gone" };
const PARKED: ContenderState = { at: "parked", boundary: "rung#1" };

/** A process that answers so. */
const opener = (answers: Partial<Record<ContenderCommand["say"], ContenderState>>): Opener => ({
  tell: async ({ say }) => answers[say] ?? { at: say === "finish" ? "done" : "ready" },
  stop: async () => true,
  goOn: () => undefined,
});

/** Rounds over a subject that always left the same. */
function ringOf(...contenders: readonly Opener[]) {
  const subject: Subject = { ...ladder(), attach: () => DISK, view: async () => LEFT };
  return { context: runContext(CLIMB, subject, 1, host, watchdog, []), folder: host.folder, contenders };
}

const DISK = { fork: () => DISK, size: () => undefined, tear: () => [], dispose: () => undefined };
const LEFT = { exact: "{}", canonical: "{}" };
const REACHED = { canonical: "{}", demands: [] };
const STAND: Stand = {
  commitIndex: 0,
  nextMs: 0,
  downtimes: [],
  before: REACHED,
  after: REACHED,
};

it("shows nothing of a second opener that is gone before it opens", async () => {
  const folder = join(host.folder, "left");
  mkdirSync(folder);
  const left = { stand: STAND, folder, owner: PARKED };
  const first = { boot: PARKED };
  const keptOut = ringOf(opener(first), opener({ boot: { at: "waiting" } }));
  expect(await secondOpenerRound(keptOut, left, "kept-out")).toEqual({ violations: [] });
  const { inconclusive } = await secondOpenerRound(
    ringOf(opener(first), opener({ boot: GONE })),
    left,
    "gone",
  );
  expect(inconclusive?.signature).toBe("not-reached");
});

it("shows nothing of an owner that is gone after it lost a race", async () => {
  const owner = { walk: PARKED, cross: PARKED };
  const next = opener({ boot: PARKED });
  expect(await raceRound(ringOf(opener(owner), next), STAND, "lost")).toEqual({ violations: [] });
  const gone = await raceRound(ringOf(opener({ ...owner, finish: GONE }), next), STAND, "gone");
  expect(gone.inconclusive?.signature).toBe("not-reached");
});
