/**
 * The model-facing configuration that an attempt was made under (spec §3.7).
 *
 * It decides whether an orphaned request may be repeated and a safe tool replayed: only under an equal digest. Replay
 * policy, environment, working directory, time and secrets stay out of it, so that moving a session does not change it.
 */
import { digestOf, digestOfInput } from "./digest.ts";
import { hasOnly, isDigest, isName, isObject, keys } from "./values.ts";

export interface ConfigurationTool {
  readonly name: string;
  readonly definitionDigest: string;
}

export interface ConfigurationSnapshot {
  readonly model: string;
  readonly systemPromptDigest: string;
  /** The order counts. */
  readonly tools: readonly ConfigurationTool[];
  readonly adapterIdentity: string;
  readonly routingIdentity: string;
  readonly outputOptionsDigest: string;
}

/** A snapshot with the digest that belongs to it. */
export interface DigestedConfiguration {
  readonly snapshot: ConfigurationSnapshot;
  readonly digest: string;
}

/**
 * The digest of a snapshot.
 * @throws NotJson when a text of the snapshot cannot be stored.
 */
export function configurationDigest(snapshot: ConfigurationSnapshot): string {
  return digestOfInput(snapshot);
}

/**
 * Reads a snapshot, and digests it unless it equals the one that was read last: consecutive attempts nearly always
 * share their configuration, and hashing each again would be the dearest part of reading a session.
 */
export class ConfigurationReader {
  #last: DigestedConfiguration | undefined;

  read(value: unknown): DigestedConfiguration | undefined {
    if (this.#last !== undefined && equalsSnapshot(value, this.#last.snapshot)) return this.#last;
    if (!isSnapshot(value)) return undefined;
    this.#last = { snapshot: value, digest: digestOf(value) };
    return this.#last;
  }
}

function isSnapshot(value: unknown): value is ConfigurationSnapshot {
  if (!isObject(value) || !hasOnly(value, SNAPSHOT_KEYS)) return false;
  if (!isName(value.model) || !isName(value.adapterIdentity) || !isName(value.routingIdentity)) return false;
  if (!isDigest(value.systemPromptDigest) || !isDigest(value.outputOptionsDigest)) return false;
  if (!Array.isArray(value.tools) || !value.tools.every(isTool)) return false;
  return new Set(value.tools.map((tool) => tool.name)).size === value.tools.length;
}

function isTool(value: unknown): value is ConfigurationTool {
  return (
    isObject(value) && hasOnly(value, TOOL_KEYS) && isName(value.name) && isDigest(value.definitionDigest)
  );
}

/** Whether a value is the given snapshot again: same members, same values, nothing more. */
function equalsSnapshot(value: unknown, known: ConfigurationSnapshot): boolean {
  if (!isObject(value) || !hasOnly(value, SNAPSHOT_KEYS)) return false;
  for (const name of SCALAR_NAMES) {
    if (value[name] !== known[name]) return false;
  }
  const tools: unknown = value.tools;
  if (!Array.isArray(tools) || tools.length !== known.tools.length) return false;
  return known.tools.every((tool, index) => {
    const other: unknown = tools[index];
    if (!isObject(other) || !hasOnly(other, TOOL_KEYS)) return false;
    return other.name === tool.name && other.definitionDigest === tool.definitionDigest;
  });
}

const SCALAR_NAMES = [
  "model",
  "systemPromptDigest",
  "adapterIdentity",
  "routingIdentity",
  "outputOptionsDigest",
] as const;
const SNAPSHOT_KEYS = keys(...SCALAR_NAMES, "tools");
const TOOL_KEYS = keys("name", "definitionDigest");
