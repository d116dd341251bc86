/**
 * Everything a harness refuses with or fails with (spec §5.1).
 *
 * Tagged errors are expected: they come as `Result` errors, nothing was done, and the caller decides. `HarnessFault`
 * and `HarnessClosed` reject promises: a commit failed, or the harness was closed under work that it had accepted.
 * Neither is ever an error of a `Result`.
 */
import { TaggedError } from "../foundation/index.ts";
import type { OperationKind } from "../model/index.ts";

/** The lane has an open operation, or one is being accepted. */
export class LaneBusy extends TaggedError("LaneBusy")<{
  lane: string;
  operationId: string;
  operationKind: OperationKind;
}>() {}

/** The lane's configuration names tools or models that are not registered. */
export class MissingIdentities extends TaggedError("MissingIdentities")<{
  lane: string;
  tools: readonly string[];
  models: readonly string[];
}>() {}

export class NoActiveRun extends TaggedError("NoActiveRun")<{ lane: string }>() {}
export class NoActiveOperation extends TaggedError("NoActiveOperation")<{ lane: string }>() {}
export class NothingToResume extends TaggedError("NothingToResume")<{ lane: string }>() {}
export class NothingToCompact extends TaggedError("NothingToCompact")<{ lane: string }>() {}
export class InvalidMessage extends TaggedError("InvalidMessage")<{ lane: string; reason: string }>() {}
export class InvalidNavigation extends TaggedError("InvalidNavigation")<{ lane: string; reason: string }>() {}
export class UnknownSkill extends TaggedError("UnknownSkill")<{ name: string }>() {}
export class UnknownTemplate extends TaggedError("UnknownTemplate")<{ name: string }>() {}
export class UnknownTarget extends TaggedError("UnknownTarget")<{ targetId: string }>() {}
export class LaneExists extends TaggedError("LaneExists")<{ lane: string }>() {}
export class InvalidLane extends TaggedError("InvalidLane")<{ lane: string; reason: string }>() {}
/** The harness was closed before it accepted the call. */
export class Closed extends TaggedError("Closed")() {}

/** A commit failed, or an assumption about stored state did: the harness does nothing any more until it is reopened. */
export class HarnessFault extends Error {
  override readonly name = "HarnessFault";
  readonly code = "HARNESS_FAULT";

  constructor(cause: unknown) {
    super(`the harness is faulted and stops all effects; reopen the session: ${messageOf(cause)}`, { cause });
  }
}

/** The harness was closed while accepted work was open. The work stays open in the store and can be resumed. */
export class HarnessClosed extends Error {
  override readonly name = "HarnessClosed";
  readonly code = "HARNESS_CLOSED";

  constructor() {
    super("the harness is closed; open operations can be resumed after reopening the session");
  }
}

/** What `read` reads; undefined if reading it throws, as a member of a foreign object may. */
export function readOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The message of whatever was thrown, as a text that can be stored: an application may have cut it anywhere. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error).toWellFormed();
  } catch {
    return "what was thrown cannot be shown as a text";
  }
}
