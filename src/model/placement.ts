/** From content that waits to the entry that it becomes at its place (spec §2.2). */
import type { EntryDraft } from "./entry.ts";
import type { PendingEntry } from "./register.ts";

/** The entry of pending content, under the id that was reserved for it. */
export function placed(id: string, parentId: string | null, pending: PendingEntry): EntryDraft {
  if (pending.type === "message") return { type: "message", id, parentId, message: pending.payload };
  const { customType, payload } = pending;
  return { type: "custom", id, parentId, customType, ...(payload === undefined ? {} : { data: payload }) };
}
