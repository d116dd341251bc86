/** A transactional session in words. */
import { absurd } from "../foundation/index.ts";
import type { TransactionalFinding } from "./finding.ts";
import { counted, printable, timeInWords } from "./words.ts";

/** The lines of a finding; `line` lays out a name and a value. */
export function transactionalText(
  { header, messageCount, usage, operation, next }: TransactionalFinding,
  isPart: boolean,
  line: (name: string, value: string) => string,
): string[] {
  const lines = [
    line(
      "session",
      `${printable(header.id)}, created ${timeInWords(header.createdAt)}, model ${printable(header.model)}`,
    ),
  ];
  if (isPart) lines.push(line("", "what follows is what stands before the damage"));
  lines.push(
    line("messages", String(messageCount)),
    line(
      "usage",
      `${usage.input} input, ${usage.output} output, ${usage.cacheRead} cache read, ${usage.cacheWrite} cache write`,
    ),
    line("operation", operationInWords(operation)),
  );
  if (next !== undefined) lines.push(line("", `recovery will first ${next.says}`));
  return lines;
}

function operationInWords(operation: TransactionalFinding["operation"]): string {
  switch (operation.kind) {
    case "idle":
      return "none is open; recovery has nothing to do";
    case "run":
    case "compaction": {
      const { step } = operation;
      const at = step === undefined ? "no step yet" : `step ${step.status}, attempt ${step.attempt}`;
      const calls = operation.kind === "run" ? operation.toolCalls : [];
      const pending = calls.filter(({ status }) => status === "pending");
      const open = pending.map(
        ({ toolIndex, toolName, replay }) =>
          `call ${toolIndex} (${printable(toolName)}) was started, declared ${replay}`,
      );
      const parts = [`${operation.kind} ${printable(operation.operationId)}`, at, ...open];
      if (calls.length > 0) parts.push(`${counted(calls.length - pending.length, "call")} answered`);
      if (operation.abortRequested) parts.push("abort requested");
      return parts.join(", ");
    }
    default:
      return absurd(operation, "operation");
  }
}
