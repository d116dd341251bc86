/**
 * Stored lanes for the tests of validity: registers, and what was loaded for them.
 */
import type {
  Entry,
  Operation,
  OperationState,
  PendingEntry,
  RunState,
  ToolCall,
} from "../../model/index.ts";
import { referencesOf } from "../references.ts";
import { checkRegisters, type LaneRegisters } from "../validity.ts";
import { checkReferences } from "../validity-references.ts";
import { asks, CONFIGURATION, entry, needAssistant, OPERATION, result, run, tools } from "./states.ts";

export const message = { type: "message", payload: { role: "user", content: "hi", timestamp: 1 } } as const;

/** A lane with an open run, everything that it names included, and one thing changed. */
export interface Stored {
  registers: LaneRegisters;
  entries: Entry[];
  pending?: [string, PendingEntry][];
  toolArguments?: string[];
  preparations?: [string, { kind: "compaction" | "branch_summary" }][];
}

export function open(state: OperationState, operation: Operation = OPERATION): LaneRegisters {
  return {
    lane: "main",
    laneState: { currentOperationId: "O", pendingNextRun: [] },
    leafId: "e1",
    configuration: CONFIGURATION,
    operation,
    state,
  };
}

export const user = entry("e1", { role: "user", content: "hi", timestamp: 1 });
export const R = entry("R", asks("read", "write"));

export function batch(...calls: ToolCall[]): Stored {
  const state = run(tools(...calls), { latestAssistantEntryId: "R" });
  const results = calls.flatMap((call) =>
    call.status === "completed"
      ? [entry(call.resultEntryId, result(call.sourceIndex, call.sourceIndex === 0 ? "read" : "write"))]
      : [],
  );
  return {
    registers: { ...open(state), leafId: results.at(-1)?.id ?? "R" },
    entries: [user, R, ...results],
    toolArguments: ["O:s1:0", "O:s1:1"],
  };
}

export const stored = (state: OperationState, ...entries: Entry[]): Stored => ({
  registers: open(state),
  entries: [user, ...entries],
});
/** The same lane, standing elsewhere. */
export const at = (leafId: string | null, given: Stored): Stored => ({
  ...given,
  registers: { ...given.registers, leafId },
});
export const lane = (changes: Partial<LaneRegisters>): Stored => ({
  ...stored(run(needAssistant())),
  registers: { ...open(run(needAssistant())), ...changes },
});
export const idle = (changes: Partial<LaneRegisters> = {}): Stored => ({
  registers: {
    ...open(run(needAssistant())),
    laneState: { currentOperationId: null, pendingNextRun: [] },
    operation: undefined,
    state: undefined,
    ...changes,
  },
  entries: [user],
});

export function check({
  registers,
  entries,
  pending = [],
  toolArguments = [],
  preparations = [],
}: Stored): void {
  const agreeing = checkRegisters(registers);
  const references = referencesOf(registers.laneState, agreeing.leafId, agreeing.open);
  const named = new Set([
    ...references.entries.map(({ id }) => id),
    ...references.reserved.map(({ id }) => id),
    ...references.queued.map(({ id }) => id),
  ]);
  checkReferences(agreeing, references, {
    // As restore does: only what is named is loaded.
    entries: new Map(entries.filter(({ id }) => named.has(id)).map((each) => [each.id, each])),
    pending: new Map(pending),
    toolArguments: new Set(toolArguments),
    preparations: new Map(preparations),
  });
}

export const queued = (inbox: Partial<RunState["inbox"]>) =>
  run(needAssistant(), { inbox: { steer: [], followUp: [], writes: [], ...inbox } });
