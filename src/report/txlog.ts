/** What a transactional session file holds, in words. */
import { absurd } from "../foundation/index.ts";
import { EXPECTATIONS, type Inspection, type OperationState, type SessionState } from "../txlog/index.ts";

/** The finding on a file of `byteCount` bytes, ending with a line feed. */
export function txlogReport(file: string, byteCount: number, inspection: Inspection): string {
  const lines = inspection.ok ? held(inspection.state, byteCount) : refused(inspection.error);
  return `${[`${file}: transactional session`, ...lines].join("\n")}\n`;
}

function held(
  { header, transcript, usage, operation, repairedLength }: SessionState,
  byteCount: number,
): string[] {
  const torn = byteCount - repairedLength;
  return [
    `  session    ${header.id}, created ${new Date(header.createdAt).toISOString()}, model ${header.model}`,
    `  messages   ${transcript.length}`,
    `  usage      ${usage.input} input, ${usage.output} output, ${usage.cacheRead} cache read, ${usage.cacheWrite} cache write`,
    `  operation  ${operationInWords(operation)}`,
    torn === 0
      ? "  tail       whole"
      : `  tail       ${torn} torn bytes from byte ${repairedLength} on; they are no part of the session, and the next writer cuts them off`,
  ];
}

function refused(error: Extract<Inspection, { ok: false }>["error"]): string[] {
  const fact = error.seq === undefined ? "" : `, fact ${error.seq}`;
  return [
    `  refused    ${error.code} at line ${error.line}${fact}`,
    `  expected   ${EXPECTATIONS[error.code]}`,
    "  nothing was changed; restore the file from a copy, or cut it after the last line that is right",
  ];
}

function operationInWords(operation: OperationState): string {
  switch (operation.kind) {
    case "idle":
      return "none is open";
    case "run":
    case "compaction": {
      const { step } = operation;
      const at = step === undefined ? "no step yet" : `step ${step.status}, attempt ${step.attempt}`;
      return `${operation.kind} ${operation.operationId}, ${at}${operation.abortRequested ? ", abort requested" : ""}`;
    }
    default:
      return absurd(operation, "operation");
  }
}
