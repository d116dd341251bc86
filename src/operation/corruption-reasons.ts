/**
 * The reasons with which a stored lane is refused (spec §3.3), each a state that no transition can leave.
 */
import { Corruption } from "../foundation/index.ts";
import type { RegisterNamespace } from "../model/index.ts";

/** Every reason with which a lane is refused. */
export const CORRUPTION_REASONS = [
  "lane_leaf_missing",
  "lane_config_missing",
  "operation_meta_missing",
  "operation_state_missing",
  "operation_id_mismatch",
  "operation_lane_mismatch",
  "operation_kind_mismatch",
  "navigation_mismatch",
  "structural_mismatch",
  "summary_requests_mismatch",
  "source_leaf_moved",
  "run_leaf_moved",
  "latest_response_mismatch",
  "cancellation_mismatch",
  "attempt_beyond_policy",
  "tool_calls_out_of_order",
  "tool_batch_finished",
  "tool_calls_incomplete",
  "result_id_repeated",
  "queued_id_repeated",
  "reserved_id_repeated",
  "entry_missing",
  "entry_of_wrong_kind",
  "tool_result_mismatch",
  "aborted_while_running",
  "reserved_id_taken",
  "queued_id_placed",
  "pending_entry_missing",
  "pending_entry_of_wrong_kind",
  "tool_arguments_missing",
  "preparation_missing",
  "preparation_of_wrong_kind",
] as const;
export type CorruptionReason = (typeof CORRUPTION_REASONS)[number];

/** Refuses a lane. `found` says what is wrong; the place is the register or entry that says it. */
export function refuse(
  reason: CorruptionReason,
  namespace: RegisterNamespace | "entry",
  key: string,
  found: string,
): never {
  throw new Corruption(reason, `${found}; nothing was changed`, { subject: `${namespace}/${key}` });
}
