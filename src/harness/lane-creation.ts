/**
 * Making lanes, and listing them (spec §2.3, §5.2).
 *
 * A new lane gets its three registers in one commit, with the configuration that this harness was made with, whatever
 * setters have changed since. Creations stand on a line of their own, so of two with one name the second is refused.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import type { OperationKind } from "../model/index.ts";
import { leafOf, newLaneWrites } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import { InvalidLane, LaneExists, UnknownTarget } from "./errors.ts";
import type { LaneTrack } from "./lane-track.ts";
import { commitAndPublish } from "./publish.ts";

/** What a lane is doing. Suspended: nobody drives its operation in this process until it is resumed. */
export interface LaneInfo {
  name: string;
  leafId: string | null;
  operation: null | { id: string; kind: OperationKind; status: "running" | "suspended" | "aborting" };
}

/** Commits a new lane, which is made for the process with `made`, and then told. What refuses has written nothing. */
export async function createLane<Lane>(
  environment: Environment,
  name: string,
  at: string | null,
  made: () => Lane,
): Promise<Result<Lane, LaneExists | InvalidLane | UnknownTarget>> {
  const { session, lifecycle, publisher } = environment;
  lifecycle.admit();
  const reason = refusalOf(name);
  if (reason !== undefined) {
    return err(
      new InvalidLane({ message: `${JSON.stringify(name)} names no lane: ${reason}`, lane: name, reason }),
    );
  }
  if ((await session.getRegister("lane.leaf", name)) !== undefined) {
    return err(new LaneExists({ message: `there is a lane ${name} already; look it up`, lane: name }));
  }
  if (at !== null && !(await session.getEntries([at])).has(at)) {
    return err(new UnknownTarget({ message: `there is no entry ${at} in this session`, targetId: at }));
  }
  await commitAndPublish(environment, { writes: newLaneWrites(name, at, environment.seed) });
  const lane = made();
  publisher.tell(name, { type: "lane_created", at });
  return ok(lane);
}

/** A lane, from its leaf and from what is remembered of it. */
export async function laneInfo(environment: Environment, name: string): Promise<LaneInfo> {
  const { session, publisher, lifecycle } = environment;
  const leafId = await lifecycle.reading(() => leafOf(session, name));
  return { name, leafId, operation: shownOperation(publisher.track(name)) };
}

/** The open operation of a lane, as it is now. */
export function shownOperation(track: LaneTrack): LaneInfo["operation"] {
  const { operation } = track;
  if (operation === undefined) return null;
  const { operationId: id, intent } = operation;
  return { id, kind: intent.kind, status: statusOf(track) };
}

/** The status of an open operation: what is durable first, then whether this process drives it. */
export function statusOf({ state, isSuspended }: LaneTrack): "running" | "suspended" | "aborting" {
  if (state?.control.status === "cancel_requested") return "aborting";
  return isSuspended ? "suspended" : "running";
}

/** Names become keys of registers and parts of lines. */
function refusalOf(name: unknown): string | undefined {
  if (typeof name !== "string" || name === "") return "a name has at least one character";
  if (name.length > NAME_MAX) return `a name has at most ${NAME_MAX} characters`;
  if (/\p{Cc}/u.test(name)) return "a name has no control characters";
  return name.isWellFormed() ? undefined : "a name has no lone surrogates";
}

const NAME_MAX = 256;
