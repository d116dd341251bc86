/** What a rewrite makes of the last result of a lane; the rest is held against every repository by `conformance/`. */
import { describe, expect, it } from "vitest";
import type { Entry, LaneLastResult, Register } from "../model/index.ts";
import type { SessionContents } from "../storage/index.ts";
import { rewriteContents } from "./rewrite.ts";

const user: Entry = {
  type: "message",
  id: "e1",
  parentId: null,
  seq: 1,
  timestamp: 1,
  message: { role: "user", content: "hi", timestamp: 1 },
};
const note: Entry = { type: "custom", customType: "note", id: "e2", parentId: "e1", seq: 2, timestamp: 2 };

/** What is left of a result if the second entry, which it names, goes. */
function leftOf(result: LaneLastResult): Register | undefined {
  const registers = [
    { namespace: "lane.leaf", key: "main", value: "e2", seq: 3 },
    { namespace: "lane.lastResult", key: "main", value: result, seq: 4 },
  ] as Register[];
  const source: SessionContents = { entries: [user, note], registers, usage: [] };
  const kept = rewriteContents(source, { entry: (entry) => (entry.id === "e2" ? undefined : entry) });
  return kept.registers.find(({ namespace }) => namespace === "lane.lastResult");
}

const named = { operationId: "O", kind: "run", leafId: "e2", finalAssistantEntryId: "e2" } as const;

describe("the last result of a lane, when its final answer goes", () => {
  it("goes with it where a response completed the run: there is no such result without one", () => {
    expect(leftOf({ ...named, outcome: "completed", runCompletion: "assistant" })).toBeUndefined();
  });

  it("stays without it where the run was aborted or failed", () => {
    const { finalAssistantEntryId: _gone, ...rest } = named;
    const error = { code: "provider_error", message: "no" };
    expect(leftOf({ ...named, outcome: "aborted" })?.value).toEqual({
      ...rest,
      leafId: "e1",
      outcome: "aborted",
    });
    expect(leftOf({ ...named, outcome: "failed", error })?.value).toMatchObject({ leafId: "e1", error });
  });
});
