/**
 * The exported types, held by the compiler: a type that loosens, or a union that stops narrowing, fails `tsc` in
 * this file. The run-time test reads samples through the same narrowings.
 */
import { describe, expect, it } from "vitest";
import type { Entry, EntryDraft, MessageEntry } from "./entry.ts";
import type { Generation } from "./generation.ts";
import type { LaneLastResult } from "./lane.ts";
import type { AgentMessage, SettledAssistantMessage, StopReason } from "./message.ts";
import type { OperationState } from "./operation-state.ts";
import type { Register, RegisterValues } from "./register.ts";
import { sampleEntries, sampleLastResults, toDraft } from "./samples.ts";
import { sampleOperationStates } from "./samples-operation-state.ts";
import type { Holds, Same } from "./schema.ts";
import type { RegisterSetWrite, Write } from "./transaction.ts";
import type { Usage } from "./usage.ts";

type Promised = [
  Holds<Same<EntryDraft["type"], Entry["type"]>>,
  Holds<
    Same<keyof Extract<EntryDraft, { type: "message" }>, Exclude<keyof MessageEntry, "seq" | "timestamp">>
  >,
  Holds<Same<SettledAssistantMessage["stopReason"], Exclude<StopReason, "pending">>>,
  Holds<Same<Extract<Generation, { status: "effect_pending" }>["attempt"], number>>,
  Holds<Same<Register<"lane.leaf">["value"], string | null>>,
  Holds<Same<Extract<RegisterSetWrite, { namespace: "op.state" }>["value"], RegisterValues["op.state"]>>,
  Holds<Same<Usage["reasoning"], number | undefined>>,
];
/** The compiler refuses this list when one of the facts above is false. */
const promised: Promised = [true, true, true, true, true, true, true];

function pick(name: string): OperationState {
  const state = sampleOperationStates()[name];
  if (!state) throw new Error(`no sample is called ${name}`);
  return state;
}

/** Narrowing by discriminants, as later rooms rely on it. */
function dueAt(state: OperationState): number | undefined {
  if (state.kind !== "run" || state.phase.kind !== "assistant") return undefined;
  return state.phase.generation.status === "retry_wait" ? state.phase.generation.notBefore : undefined;
}
function errorCodeOf(result: LaneLastResult): string | undefined {
  return result.outcome === "failed" ? result.error.code : result.error;
}
function targetOf(write: Write): string {
  if (write.kind === "entry") return write.entry.id;
  if (write.kind === "usage") return write.row.id;
  return write.op === "set" && write.namespace === "lane.leaf" ? (write.value ?? "root") : write.key;
}
function textOf(message: AgentMessage): string {
  return message.role === "bashExecution" ? message.command : message.role;
}

describe("the exported types", () => {
  it("say what the specification says", () => {
    expect(promised).toHaveLength(7);
  });

  it("narrow by their discriminants", () => {
    expect(dueAt(pick("run assistant retry_wait"))).toBe(2000);
    expect(dueAt(pick("run assistant ready"))).toBeUndefined();
    expect(errorCodeOf(sampleLastResults().failed)).toBe("provider_error");
    expect(errorCodeOf(sampleLastResults().aborted)).toBeUndefined();
    expect(targetOf({ kind: "register", op: "set", namespace: "lane.leaf", key: "main", value: null })).toBe(
      "root",
    );
    expect(targetOf({ kind: "entry", entry: toDraft(sampleEntries().custom) })).toBe("e_2");
    expect(textOf({ role: "user", content: "hi", timestamp: 1 })).toBe("user");
  });
});
