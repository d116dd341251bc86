/**
 * What recovery must make of structural work, held against hand-written recoveries of a compaction: right ones, and
 * wrong ones, those that should have differed from the run that nobody cut and did not included.
 */
import { describe, expect, it } from "vitest";
import type { Scenario } from "../../faults/index.ts";
import type { AgentMessage, Usage } from "../../model/index.ts";
import { compareViews } from "../compare-views.ts";
import type { History } from "../testing/history.ts";
import {
  attempt,
  attemptOf,
  compacting,
  end,
  generate,
  request,
  retryUnknown,
  send,
} from "../testing/structural-histories.ts";
import { set, usageOf } from "../testing/values.ts";
import { expectRecovery } from "./recovery-equality.ts";

const scenario: Scenario = {
  name: "test",
  title: "test",
  settings: { retry: { enabled: true, maxRetries: 1, baseDelayMs: 1000 } },
  tools: [],
  turns: [],
  summaries: [[[{ text: "short", stopReason: "stop", usage: { input: 10, output: 5 } }]]],
  stimuli: [{ call: "prompt", text: "go" }, { call: "compact" }],
};

const newest = (history: History): AgentMessage[] => {
  const entry = history.model.entries().at(-1);
  return entry?.type === "message" ? [entry.message] : [];
};

interface Published {
  readonly summary?: string;
  readonly usage?: Usage;
  readonly tail?: AgentMessage[];
}

/** The compaction is stored, and the operation has ended. */
function publish(
  history: History,
  { summary = "short", usage = usageOf(10, 5), tail = newest(history) }: Published = {},
): History {
  const id = attemptOf(history).context.resultEntryId;
  const entry = {
    type: "compaction",
    id,
    parentId: history.leaf,
    summary,
    retainedTail: tail,
    tokensBefore: 100,
    fromHook: false,
    usage,
  } as const;
  const published = [{ kind: "entry", entry } as const, set("lane.leaf", "main", id)];
  return end(history, "manual.generated", published, id, { outcome: "completed" });
}

const fail = (history: History): History =>
  end(history, "structural.failed", [], history.leaf, {
    outcome: "failed",
    error: { code: "any", message: "any" },
  });

const begun = () => attempt(generate(compacting()));

async function demanded(atCut: History, uninterrupted: History) {
  const cut = {
    boundary: { kind: "effect" as const, label: "provider.summary", occurrence: 1 },
    position: "after" as const,
  };
  const view = atCut.view();
  return expectRecovery({ scenario, cut, atCut: async () => view, uninterrupted: uninterrupted.view() });
}

/** Where a recovery differs from what is demanded after the death of `atCut`. */
async function difference(atCut: () => History, recover: (dead: History) => History) {
  const expected = await demanded(atCut(), publish(request(begun())));
  return compareViews(expected.canonical, recover(atCut().crash()).view().canonical)?.pointer;
}

describe("a summary whose request was sent", () => {
  const sent = () => send(begun());

  it("is asked for anew, at the next attempt; what was lost is booked nowhere", async () => {
    const expected = await demanded(sent(), publish(request(begun())));
    expect(expected.demands).toEqual(["§4.5 summary pending: attempt 2 of 2, all its requests anew"]);
    expect(await difference(sent, (dead) => publish(request(attempt(retryUnknown(dead)))))).toBeUndefined();
  });

  it.each<[string, (dead: History) => History]>([
    ["fails instead", (dead) => fail(dead)],
    ["is taken for answered, and asks nobody", (dead) => publish(attempt(retryUnknown(dead)))],
    [
      "shows more than its attempt cost",
      (dead) => publish(request(attempt(retryUnknown(dead))), { usage: usageOf(20, 10) }),
    ],
    ["keeps nothing", (dead) => publish(request(attempt(retryUnknown(dead))), { tail: [] })],
    [
      "keeps something else",
      (dead) =>
        publish(request(attempt(retryUnknown(dead))), {
          tail: [{ role: "user", content: "other", timestamp: 0 }],
        }),
    ],
    ["is asked for twice", (dead) => publish(request(request(attempt(retryUnknown(dead)))))],
  ])("is found out when it %s", async (_name, recover) => {
    expect(await difference(sent, recover)).toBeDefined();
  });
});

it("a summary says what its request was answered, also where the run that nobody cut says something else", async () => {
  const wrong = { summary: "what nobody said" };
  const expected = await demanded(send(begun()), publish(request(begun()), wrong));
  const recovered = (published: Published) =>
    publish(request(attempt(retryUnknown(send(begun()).crash()))), published).view().canonical;
  expect(compareViews(expected.canonical, recovered(wrong))?.pointer).toBeDefined();
  expect(compareViews(expected.canonical, recovered({}))?.pointer).toBeUndefined();
});

describe("a summary whose request was settled", () => {
  const settled = () => request(begun());

  it("is asked for anew as well: its answer died with the process, its bill did not", async () => {
    expect(
      await difference(settled, (dead) => publish(request(attempt(retryUnknown(dead))))),
    ).toBeUndefined();
  });

  it("is found out when the answer is used that nobody can know any more", async () => {
    expect(await difference(settled, (dead) => publish(dead))).toBeDefined();
  });
});

describe("a summary at its last attempt", () => {
  const atCap = () => send(attempt(retryUnknown(begun().crash())));

  it("fails, and nothing is stored or booked for it", async () => {
    const expected = await demanded(atCap(), publish(request(begun())));
    expect(expected.demands).toEqual(["§4.5 summary pending at the cap: the work fails"]);
    expect(await difference(atCap, (dead) => fail(dead))).toBeUndefined();
  });

  it("is found out when it completes all the same", async () => {
    expect(await difference(atCap, (dead) => publish(request(attempt(retryUnknown(dead)))))).toBeDefined();
  });
});
