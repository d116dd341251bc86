/**
 * The judges over real runs of the runtime: they pass every scenario, name its commits in the order of the tables, and
 * notice any one write that is left out of any one commit.
 */
import { describe, expect, it } from "vitest";
import { SCENARIOS, scenarioByName } from "../../scenarios/index.ts";
import { Gate, type Scenario, Timeline, type TimelineEvent, World } from "../faults/index.ts";
import { VirtualClock } from "../foundation/index.ts";
import type { Write } from "../model/index.ts";
import { builtInSubjects } from "../subject/index.ts";
import type { RunEnd } from "./contract.ts";
import { startHarnessJudge } from "./judge.ts";

const memory = builtInSubjects().find(({ id }) => id === "memory");

/** One life of a scenario, from an empty session to its end. */
async function runOf(scenario: Scenario): Promise<{ events: readonly TimelineEvent[]; end: RunEnd }> {
  if (memory === undefined) throw new Error("there is no memory subject");
  const disk = await memory.provision({ seed: 1, folder: "" });
  const timeline = new Timeline();
  const world = new World(scenario, new VirtualClock());
  timeline.push({ kind: "boot", incarnation: 0 });
  const gate = new Gate({ open: true });
  const boot = { disk, world, scenario, seed: 1, incarnation: 0, gate, timeline };
  const life = memory.boot({ ...boot, drive: "automatic", isNamed: true });
  await life.life;
  await life.close();
  const view = await memory.view(disk, { downtimes: [] });
  return { events: timeline.events, end: { view, rows: world.rows } };
}

function judged(scenario: Scenario, events: readonly TimelineEvent[], end: RunEnd) {
  const judge = startHarnessJudge({ scenario, off: [] });
  for (const event of events) judge.observe(event);
  return judge.finish(end);
}

const twoTools = scenarioByName("two-tools") as Scenario;

describe("over a real run", () => {
  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "%s passes every judge",
    async (_, scenario) => {
      const { events, end } = await runOf(scenario);
      expect(judged(scenario, events, end)).toEqual([]);
    },
  );

  it("the commits are the rows of the specification, in their order", async () => {
    const { events } = await runOf(twoTools);
    const names = events.flatMap((event) => (event.kind === "commit" ? [event.boundary.label] : []));
    expect(names).toEqual([
      "lane.seed",
      "acceptance.prompt",
      "generation.ready",
      "generation.intent",
      "generation.settle.tools",
      "tool.intent",
      "tool.settle",
      "tool.intent",
      "tool.settle.last",
      "generation.ready",
      "generation.intent",
      "generation.settle.finish",
      "terminal.completed",
    ]);
  });

  it("no write can be left out of any commit unseen", async () => {
    const { events, end } = await runOf(twoTools);
    const unseen: string[] = [];
    events.forEach((event, at) => {
      if (event.kind !== "commit") return;
      const payload = event.payload as { writes: readonly Write[] };
      payload.writes.forEach((_, left) => {
        const writes = payload.writes.filter((_write, index) => index !== left);
        const changed = events.with(at, { ...event, payload: { ...payload, writes } });
        if (judged(twoTools, changed, end).length === 0)
          unseen.push(`${event.boundary.label} without write ${left}`);
      });
    });
    expect(unseen).toEqual([]);
  });

  it("no effect can be left out, repeated or moved before its intent unseen", async () => {
    const { events, end } = await runOf(twoTools);
    const unseen: string[] = [];
    events.forEach((event, at) => {
      if (event.kind !== "effect") return;
      const [intent] = events.slice(at - 1, at);
      const histories = {
        "left out": events.toSpliced(at, 1),
        repeated: events.toSpliced(at, 0, event),
        "before its intent": intent === undefined ? [] : events.toSpliced(at - 1, 2, event, intent),
      };
      for (const [how, history] of Object.entries(histories)) {
        if (judged(twoTools, history, end).length === 0) unseen.push(`${event.boundary.label} ${how}`);
      }
    });
    expect(unseen).toEqual([]);
  });
});
