/**
 * A transactional session file: its state or its refusal, and what recovery would do first in the surroundings that the
 * file records.
 */
import { isUtf8 } from "node:buffer";
import { absurd } from "../foundation/index.ts";
import {
  byteOffsetOfLine,
  EXPECTATIONS,
  inspectionOf,
  planRecovery,
  type RecoveryPlan,
  type Reduction,
  type Refusal,
  recordedProcess,
  reduce,
} from "../txlog/index.ts";
import type { BytesFinding, FileFinding, LostBytes, ReaderFinding, TransactionalFinding } from "./finding.ts";
import { behindDamage, linesIn } from "./jsonl.ts";
import { printable } from "./words.ts";

/** What the bytes of a transactional session file say. */
export function transactionalFinding(bytes: Buffer): ReaderFinding {
  const reduced = reduce(bytes);
  const txlog = inspectionOf(reduced);
  const file = { kind: "transactional_session", byteLength: bytes.length, txlog } as const;
  if (!reduced.ok) return { ...file, ...refused(bytes, reduced.error) };
  const keptBytes = reduced.value.repairedLength;
  const lost: LostBytes[] = [];
  if (bytes.length > keptBytes) {
    const byteLength = bytes.length - keptBytes;
    const says =
      "a line without its end: its transaction was never confirmed, and the next writer cuts it off";
    lost.push({ byteOffset: keptBytes, byteLength, what: "torn_tail", says });
  }
  return {
    ...file,
    verdict: "whole",
    says: SAYS,
    bytes: { keptBytes, keptLines: linesIn(bytes.subarray(0, keptBytes)), lost },
    transactional: held(reduced.value),
  };
}

const SAYS = "a transactional session";

function held(reduction: Reduction): TransactionalFinding {
  const point = reduction.live();
  const { header, transcript, usage, operation } = point.state;
  const finding = { header, messageCount: transcript.length, usage, operation };
  if (operation.kind === "idle") return finding;
  const plan = planRecovery(point, recordedProcess(point.state));
  return { ...finding, next: { plan, says: planInWords(plan) } };
}

function refused(
  bytes: Buffer,
  error: Refusal,
): Pick<FileFinding, "verdict" | "says" | "refusal" | "bytes" | "transactional"> {
  const byteOffset = offsetOf(bytes, error);
  const lineOf = linesIn(bytes.subarray(0, byteOffset)) + 1;
  const lost = [behindDamage(bytes, byteOffset)];
  const fact = error.seq === undefined ? "" : `, fact ${error.seq}`;
  const kept: BytesFinding = { keptBytes: byteOffset, keptLines: lineOf - 1, lost };
  // What stands before the first refusal was accepted just now.
  const before = byteOffset === 0 ? undefined : reduce(bytes.subarray(0, byteOffset));
  return {
    verdict: error.code === "UNSUPPORTED_VERSION" ? "unreadable" : "damaged",
    says: `${SAYS}, refused`,
    refusal: {
      reason: error.code,
      message: `${EXPECTATIONS[error.code]}${fact === "" ? "" : ` (line ${lineOf}${fact})`}`,
      line: lineOf,
      byteOffset,
    },
    // A file of another version is whole for the program that reads it.
    ...(error.code === "UNSUPPORTED_VERSION" ? {} : { bytes: kept }),
    ...(before?.ok ? { transactional: held(before.value) } : {}),
  };
}

/** Where the refused line starts. Bytes that are no UTF-8 are found before lines are, so they are looked up here. */
function offsetOf(bytes: Buffer, { code, line }: Refusal): number {
  if (code !== "INVALID_UTF8") return byteOffsetOfLine(bytes, line);
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(start, end))) return start;
    start = end;
  }
  return 0;
}

const LF = 0x0a;

function planInWords(plan: RecoveryPlan): string {
  switch (plan.type) {
    case "finish":
      return `end the operation as ${plan.outcome}${plan.error === undefined ? "" : ` (${printable(plan.error.code)})`}`;
    case "startStep":
      return plan.attempt === 1
        ? `begin a step (${plan.stepKind}) and send its request`
        : `send the request of the step once more, as attempt ${plan.attempt}: nobody knows how the first one ended`;
    case "startTool":
      return plan.mode === "start"
        ? `commit the start of call ${plan.toolIndex} (${printable(plan.toolName)}), and execute it`
        : `execute call ${plan.toolIndex} (${printable(plan.toolName)}) again with the stored arguments`;
    case "appendSynthetic":
      return `answer ${plan.results.map(({ toolIndex, toolName, reason }) => `call ${toolIndex} (${printable(toolName)}) as ${reason}`).join(", ")}, without executing anything`;
    case "closeAttempt":
      return `close the attempt as ${printable(plan.error.code)}`;
    case "blocked":
      return `nothing: it is blocked (${plan.reason}), until that is restored or the operation is aborted`;
    default:
      return absurd(plan, "plan");
  }
}
