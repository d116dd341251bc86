/**
 * Patches of stream options (message types §11): judged by own-property presence. Absent leaves a key alone, present
 * replaces it, `undefined` removes it. `headers` and `metadata` are merged key by key; a map that becomes empty is gone.
 * Keys that are no stream options, a signal among them, are left out. What comes of it is checked after the deletions.
 */
import { admitJson } from "../foundation/index.ts";
import {
  type AgentHarnessStreamOptions,
  type AgentHarnessStreamOptionsPatch,
  AgentHarnessStreamOptionsSchema,
  issueOf,
} from "../model/index.ts";

const KEYS = [
  "transport",
  "timeoutMs",
  "maxRetries",
  "maxRetryDelayMs",
  "headers",
  "metadata",
  "cacheRetention",
  "deferred",
] as const;
const MAPS: ReadonlySet<string> = new Set(["headers", "metadata"]);

/** The options with a patch on them. @throws TypeError or NotJson for what are no options then */
export function patchedStreamOptions(
  options: AgentHarnessStreamOptions,
  patch: AgentHarnessStreamOptionsPatch,
): AgentHarnessStreamOptions {
  const next: Record<string, unknown> = { ...options };
  const given = patch as Record<string, unknown>;
  for (const key of KEYS) {
    if (!Object.hasOwn(patch, key)) continue;
    const value = MAPS.has(key) ? merged(next[key], given[key]) : given[key];
    if (value === undefined) delete next[key];
    else next[key] = value;
  }
  const admitted = admitJson(next) as AgentHarnessStreamOptions;
  const issue = issueOf(AgentHarnessStreamOptionsSchema, admitted);
  if (issue)
    throw new TypeError(`streamOptions${issue.path}: expected ${issue.expected}, found ${issue.found}`);
  return admitted;
}

function merged(map: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const next: Record<string, unknown> = { ...(map as Record<string, unknown> | undefined), ...patch };
  for (const [key, value] of Object.entries(next)) if (value === undefined) delete next[key];
  return Object.keys(next).length === 0 ? undefined : next;
}
