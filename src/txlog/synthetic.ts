/**
 * Synthetic tool results: the answers that the runtime writes itself when a call has no result of its own (spec §5.2).
 *
 * Their texts are part of the format, byte for byte: a file whose text differs is refused. `interrupted` answers a call
 * that was started; the other four answer calls that never were.
 */

export type PreExecutionReason = "invalidArguments" | "unknownTool" | "truncated" | "aborted";
export type SyntheticReason = PreExecutionReason | "interrupted";

export const SYNTHETIC_CONTENT: Readonly<Record<SyntheticReason, string>> = {
  invalidArguments: "Error: Tool arguments were invalid; the tool was not executed.",
  unknownTool: "Error: Unknown tool; the tool was not executed.",
  truncated: "Error: Tool call arguments were truncated by the model token limit; the tool was not executed.",
  aborted: "Operation aborted before execution.",
  interrupted: "Operation interrupted after execution status became unknown; the tool was not replayed.",
};

export function isPreExecutionReason(value: unknown): value is PreExecutionReason {
  switch (value) {
    case "invalidArguments":
    case "unknownTool":
    case "truncated":
    case "aborted":
      return true;
    default:
      return false;
  }
}
