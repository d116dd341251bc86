import { describe, expect, it } from "vitest";
import { type LaneState, validateOperationState } from "../model/index.ts";
import { inWords, needAssistant, OPERATION, ready, run } from "./testing/states.ts";
import { acceptRun, type RunAcceptance } from "./transition-acceptance.ts";

const user = { role: "user", content: "hi", timestamp: 1 } as const;

describe("acceptance", () => {
  const laneState: LaneState = { currentOperationId: null, pendingNextRun: ["q1", "q2", "q3"] };
  const acceptance: RunAcceptance = {
    lane: "main",
    laneState,
    leafId: "e0",
    operationId: "O",
    startedAt: 1,
    settings: run(ready()).settings,
    captured: [
      { id: "q1", pending: { type: "message", payload: user } },
      { id: "q2", pending: { type: "custom", customType: "note" } },
    ],
    prompt: [{ id: "e1", message: user }],
    injected: [{ id: "e2", message: user }],
  };

  it("places queued items, the prompt, then what hooks injected, and writes in the order of the table", () => {
    const accepted = acceptRun(acceptance);
    expect(accepted?.writes.map(inWords)).toEqual([
      "entry q1 after e0",
      "entry q2 after q1",
      "entry e1 after q2",
      "entry e2 after e1",
      "delete pending.entry/q1",
      "delete pending.entry/q2",
      "set lane.leaf/main",
      "set op.meta/O",
      "set op.state/O",
      "set lane.state/main",
    ]);
    expect(accepted?.laneState).toEqual({ currentOperationId: "O", pendingNextRun: ["q3"] });
    expect(accepted?.leafId).toBe("e2");
    expect(accepted?.operation).toEqual({ ...OPERATION, sourceLeafId: "e0" });
    expect(accepted?.state.phase).toEqual({ ...needAssistant(), triggerEntryId: "e2" });
    expect(validateOperationState(accepted?.state)).toBeUndefined();
  });

  it("accepts a run of queued items alone", () => {
    const accepted = acceptRun({ ...acceptance, prompt: [], injected: [] });
    expect(accepted?.operation.intent).toEqual({ kind: "run", promptEntryIds: [] });
    expect(accepted?.state.phase).toMatchObject({ triggerEntryId: "q2" });
  });

  it("keeps what hooks decided in the operation", () => {
    const accepted = acceptRun({ ...acceptance, systemPromptOverride: "be brief", resumeData: { hook: 1 } });
    expect(accepted?.operation.intent).toMatchObject({
      systemPromptOverride: "be brief",
      resumeData: { hook: 1 },
    });
  });

  it("accepts nothing that would append nothing", () => {
    expect(acceptRun({ ...acceptance, captured: [], prompt: [], injected: [] })).toBeUndefined();
  });
});
