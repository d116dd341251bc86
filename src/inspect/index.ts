/** `inspect`: what a session file is, holds, and what recovery would do next; from the bytes, without a trace. */
export {
  type BesideFinding,
  type BytesFinding,
  type DatabaseFinding,
  type FileFinding,
  type FileKind,
  INSPECT_SCHEMA,
  type Inspection,
  type LaneFinding,
  type LostBytes,
  type OperationFinding,
  type PassedOver,
  type QueuedItem,
  type QueueFinding,
  type RefusalFinding,
  type SessionFinding,
  type TransactionalFinding,
  type Verdict,
  type ViolationFinding,
  type WarningFinding,
} from "./finding.ts";
export { type InspectOptions, inspectPath } from "./inspect.ts";
export { inspectionText } from "./text.ts";
