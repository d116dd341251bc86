/**
 * The header: line 1 of every file (spec §2).
 *
 * The order of the checks decides which code a file gets: a file of version 1 has another `kind` and is therefore an
 * invalid header, while a header of version 3 is an unsupported version whatever its fields are.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import { hasOnly, isCount, isName, isObject, isUuid, keys } from "./values.ts";

/** What a session is told once, at its creation. `createdAt` is in Unix milliseconds. */
export interface SessionHeader {
  readonly id: string;
  readonly createdAt: number;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly environmentIdentity: string;
}

const FORMAT_VERSION = 2;

const HEADER_KEYS = keys(
  "kind",
  "version",
  "id",
  "createdAt",
  "cwd",
  "provider",
  "model",
  "environmentIdentity",
);

export function readHeader(value: unknown): Result<SessionHeader, "INVALID_HEADER" | "UNSUPPORTED_VERSION"> {
  if (!isObject(value) || !hasOnly(value, HEADER_KEYS) || value.kind !== "header")
    return err("INVALID_HEADER");
  if (value.version !== FORMAT_VERSION) return err("UNSUPPORTED_VERSION");
  const { id, createdAt, cwd, provider, model, environmentIdentity } = value;
  if (!isUuid(id) || !isCount(createdAt)) return err("INVALID_HEADER");
  if (!isName(cwd) || !isName(provider) || !isName(model) || !isName(environmentIdentity)) {
    return err("INVALID_HEADER");
  }
  return ok({ id, createdAt, cwd, provider, model, environmentIdentity });
}

/** The text of line 1, without its line feed. */
export function headerText(header: SessionHeader): string {
  const { id, createdAt, cwd, provider, model, environmentIdentity } = header;
  return JSON.stringify({
    kind: "header",
    version: FORMAT_VERSION,
    id,
    createdAt,
    cwd,
    provider,
    model,
    environmentIdentity,
  });
}
