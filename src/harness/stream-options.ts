/**
 * Patches of stream options (message types §11): judged by own-property presence. Absent leaves a key alone, present
 * replaces it, `undefined` removes it. `headers` and `metadata` are merged key by key; a map that becomes empty is gone.
 * Keys that are no stream options, a signal among them, are left out. What comes of it is checked after the deletions.
 *
 * In options that are given whole a member that is `undefined` is one that is not given, at every depth, as JSON has it; so it
 * is in the values of a patch. In a list there is a place that it would leave, and it is refused.
 */
import { admitJson, JSON_DEPTH_MAX } from "../foundation/index.ts";
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
  const admitted = admitJson(withoutUndefined(next)) as AgentHarnessStreamOptions;
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

/** The same value without members that are `undefined`. What JSON cannot carry otherwise stays, to be refused. */
export function withoutUndefined<T>(value: T, within: readonly unknown[] = []): T {
  if (typeof value !== "object" || value === null) return value;
  if (within.includes(value) || within.length > JSON_DEPTH_MAX) return value;
  const around = [...within, value];
  const names = Object.keys(value);
  if (Array.isArray(value)) {
    const isPlain = names.length === value.length;
    return isPlain ? (value.map((item) => withoutUndefined(item, around)) as T) : value;
  }
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain || Object.getOwnPropertySymbols(value).length > 0) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutUndefined(member, around)])) as T;
}
