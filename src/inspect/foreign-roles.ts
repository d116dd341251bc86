/**
 * Message roles that an application defines for itself (spec §2.8). Their schemas are the application's, so an inspection
 * takes their messages as they are, and says that it does.
 */
import { Type } from "typebox";
import { BUILT_IN_MESSAGE_SCHEMAS, type CustomMessageSchemas } from "../model/index.ts";
import type { SessionDump } from "../storage/index.ts";

/** The roles in a session that are not built in, sorted. */
export function foreignRoles({ entries, registers }: Pick<SessionDump, "entries" | "registers">): string[] {
  const roles = new Set<string>();
  const see = (message: unknown) => {
    const role = (message as { role?: unknown } | null | undefined)?.role;
    if (typeof role === "string" && !Object.hasOwn(BUILT_IN_MESSAGE_SCHEMAS, role)) roles.add(role);
  };
  const seeAll = (messages: unknown) => {
    if (Array.isArray(messages)) for (const message of messages) see(message);
  };
  for (const entry of entries) {
    if (entry.type === "message") see(entry.message);
    if (entry.type === "compaction") seeAll(entry.retainedTail);
  }
  for (const { namespace, value } of registers) {
    const held = (value ?? {}) as Record<string, unknown>;
    if (namespace === "pending.entry" && held.type === "message") see(held.payload);
    if (namespace === "op.preparation") for (const list of Object.values(held)) seeAll(list);
  }
  return [...roles].sort();
}

/** Schemas that take any message of these roles. */
export function schemasFor(roles: readonly string[]): CustomMessageSchemas {
  return Object.fromEntries(roles.map((role) => [role, ANY_MESSAGE]));
}

const ANY_MESSAGE = Type.Object({ role: Type.String() });
