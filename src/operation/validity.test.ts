import { describe, expect, it } from "vitest";
import { Corruption } from "../foundation/index.ts";
import { CORRUPTION_REASONS } from "./corruption-reasons.ts";
import { REFUSED } from "./testing/refused-lanes.ts";
import {
  assistant,
  CANCELLED,
  completed,
  entry,
  failureDrain,
  mayFinish,
  needAssistant,
  pending,
  planned,
  retryWait,
  run,
  started,
} from "./testing/states.ts";
import { batch, check, idle, message, queued, R, type Stored, stored } from "./testing/stored-lane.ts";
import { rightStructural } from "./testing/stored-structural.ts";

describe("validity accepts", () => {
  it.each([
    ["an idle lane", idle()],
    ["an idle lane at the root", { ...idle({ leafId: null }), entries: [] }],
    [
      "a fresh main without configuration",
      { ...idle({ leafId: null, configuration: undefined }), entries: [] },
    ],
    [
      "a lane with queued items for the next run",
      {
        ...idle({ laneState: { currentOperationId: null, pendingNextRun: ["q"] } }),
        pending: [["q", message]],
      },
    ],
    ["a checkpoint", stored(run(needAssistant()))],
    ["a pending request", stored(run(pending()))],
    ["a retry wait", stored(run(retryWait()))],
    ["a batch in the middle", batch(completed(0), started(1))],
    ["a batch that is planned", batch(planned(0), planned(1))],
    ["a failure", stored(run(failureDrain(), { latestAssistantEntryId: "R" }), R)],
    ["an end", stored(run(mayFinish(), { latestAssistantEntryId: "R" }), R)],
    [
      "an end of tools",
      stored(run(mayFinish(false), { latestAssistantEntryId: "e0" }), R, entry("e0", assistant("stop"))),
    ],
    [
      "a cancelled run with its aborted response",
      {
        ...stored(
          run(needAssistant(), { control: CANCELLED, latestAssistantEntryId: "R" }),
          entry("R", assistant("aborted")),
        ),
        pending: [
          ["q1", message],
          ["q2", message],
        ],
      },
    ],
    [
      "queued writes of any kind",
      {
        ...stored(queued({ writes: ["q"] })),
        pending: [["q", { type: "custom", customType: "note" }]],
      },
    ],
    ...rightStructural,
  ] as [string, Stored][])("%s", (_name, given) => {
    expect(() => check(given)).not.toThrow();
  });
});

describe("validity refuses", () => {
  const cases = Object.entries(REFUSED).flatMap(([reason, stored]) =>
    stored.map(([name, given]) => [reason, name, given] as const),
  );
  it.each(cases)("%s: %s", (reason, _name, given) => {
    const checking = () => check(given);
    expect(checking).toThrow(Corruption);
    expect(checking).toThrow(`[${reason}]`);
    expect(checking).toThrow("nothing was changed");
  });

  it("by every reason that it has", () => {
    expect(CORRUPTION_REASONS.filter((reason) => REFUSED[reason].length === 0)).toEqual([]);
  });
});
