/**
 * Acceptance of `compact` and `navigateTree`: what is refused, and from what is prepared to an open operation
 * (spec §3.6, §3.10).
 *
 * A compaction, and a navigation with a summary, take three steps: reserve the lane and see its leaf (on the mutation
 * line), prepare (off it), accept if the leaf is still that one (on it). A navigation without a summary is validated and
 * accepted in one job and needs no reservation, and no identities, because nothing is asked of a model.
 *
 * Whatever refuses has written nothing. A text that cannot be stored is refused before the lane is looked at.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import type { OperationKind } from "../model/index.ts";
import {
  acceptCompaction,
  acceptNavigation,
  type CurrentOperation,
  missingIdentities,
} from "../operation/index.ts";
import { busy, missingError, registriesOf, reservedError } from "./acceptance.ts";
import type { Environment } from "./environment.ts";
import {
  InvalidMessage,
  InvalidNavigation,
  type LaneBusy,
  type MissingIdentities,
  NothingToCompact,
  UnknownTarget,
} from "./errors.ts";
import { commitAccepted, type FoundLane, readLane } from "./found-lane.ts";
import { prepareBranchTo, prepareCompactionAt } from "./preparation.ts";
import type { Reservation } from "./reservation.ts";

export interface CompactOptions {
  readonly customInstructions?: string;
}

export interface NavigateOptions {
  readonly summarize?: boolean;
  /** For the entry at which the lane stands afterwards. */
  readonly label?: string;
  readonly customInstructions?: string;
}

/** Which lane, and how its jobs are run. */
export interface StructuralCall {
  readonly environment: Environment;
  readonly lane: string;
  readonly operationId: string;
  readonly reservation: Reservation;
  /** Runs a job on the mutation line. A close that comes before its end refuses it. */
  readonly admit: <T, E>(job: () => Promise<Result<T, E>>) => Promise<Result<T, E>>;
}

/** Admits a compaction; `begin` is called in the job that accepts it. */
export async function admitCompaction<Begun>(
  call: StructuralCall,
  { customInstructions }: CompactOptions,
  begin: (current: CurrentOperation) => Begun,
): Promise<Result<Begun, LaneBusy | MissingIdentities | NothingToCompact | InvalidMessage>> {
  const { environment, lane } = call;
  const reason = textIssue({ customInstructions });
  if (reason)
    return err(new InvalidMessage({ message: `lane ${lane} cannot be compacted: ${reason}`, lane, reason }));
  const { lifecycle } = environment;
  const reserved = await call.admit(() => reserve(call, "compaction", async () => VALID));
  if (!reserved.ok) return reserved;
  try {
    const { leafId } = reserved.value;
    const settings = environment.settings.run.compaction;
    const preparation = await lifecycle.untilEnd(prepareCompactionAt(environment, leafId, settings));
    if (preparation === undefined) {
      const message = `lane ${lane} has nothing to compact: all of its context is recent, or compacted already`;
      return err(new NothingToCompact({ message, lane }));
    }
    return await call.admit(async () => {
      const idle = await sameLane(call, leafId);
      const taskId = environment.session.idGenerator.next();
      const accepted = acceptCompaction(acceptanceOf(call, idle), {
        taskId,
        preparation,
        customInstructions,
      });
      return ok(begin(await commitAccepted(environment, idle, accepted)));
    });
  } finally {
    call.reservation.release();
  }
}

/** Admits a navigation; `begin` is called in the job that accepts it. */
export async function admitNavigation<Begun>(
  call: StructuralCall,
  targetId: string | null,
  { summarize = false, label, customInstructions }: NavigateOptions,
  begin: (current: CurrentOperation) => Begun,
): Promise<Result<Begun, LaneBusy | MissingIdentities | InvalidNavigation | UnknownTarget>> {
  const { environment, lane } = call;
  const { lifecycle } = environment;
  const reason = textIssue({ label, customInstructions });
  if (reason) return err(invalidNavigation(lane, reason));
  const validate = (idle: FoundLane) => validateNavigation(call, idle, { targetId, summarize, label });
  if (!summarize || targetId === null) {
    return call.admit(async (): Promise<Result<Begun, LaneBusy | InvalidNavigation | UnknownTarget>> => {
      const idle = await idleLane(call);
      if (!idle.ok) return idle;
      const valid = await validate(idle.value);
      if (!valid.ok) return valid;
      const request = { summarize: false, targetId, label } as const;
      const accepted = acceptNavigation(acceptanceOf(call, idle.value), request);
      return ok(begin(await commitAccepted(environment, idle.value, accepted)));
    });
  }
  const reserved = await call.admit(() => reserve(call, "navigation", validate));
  if (!reserved.ok) return reserved;
  try {
    const { leafId, configuration } = reserved.value;
    if (leafId === null) throw new Error("a summarized navigation from the root was refused");
    const branch = { sourceLeafId: leafId, targetId };
    const preparation = await lifecycle.untilEnd(prepareBranchTo(environment, branch, configuration));
    return await call.admit(async () => {
      const idle = await sameLane(call, leafId);
      const taskId = environment.session.idGenerator.next();
      const request = { summarize: true, targetId, label, customInstructions, taskId, preparation } as const;
      const accepted = acceptNavigation(acceptanceOf(call, idle), request);
      return ok(begin(await commitAccepted(environment, idle, accepted)));
    });
  } finally {
    call.reservation.release();
  }
}

const VALID: Result<undefined, never> = ok(undefined);

/** Takes the reservation of an idle lane whose configuration resolves. */
async function reserve<E>(
  call: StructuralCall,
  kind: OperationKind,
  validate: (idle: FoundLane) => Promise<Result<unknown, E>>,
): Promise<Result<FoundLane, LaneBusy | MissingIdentities | E>> {
  const { environment, lane, operationId, reservation } = call;
  const idle = await idleLane(call);
  if (!idle.ok) return idle;
  const valid = await validate(idle.value);
  if (!valid.ok) return valid;
  const missing = missingIdentities(idle.value.configuration, registriesOf(environment));
  if (missing) return err(missingError(lane, missing));
  reservation.take({ operationId, kind });
  return idle;
}

async function idleLane(call: StructuralCall): Promise<Result<FoundLane, LaneBusy>> {
  const { environment, lane, reservation } = call;
  environment.lifecycle.admit();
  if (reservation.heldFor) return err(reservedError(lane, reservation.heldFor));
  const idle = await readLane(environment, lane);
  const { currentOperationId } = idle.laneState;
  return currentOperationId === null ? ok(idle) : err(await busy(environment, lane, currentOperationId));
}

/** The lane that this call has reserved. Nothing but a defect moves it. */
async function sameLane({ environment, lane }: StructuralCall, leafId: string | null): Promise<FoundLane> {
  environment.lifecycle.admit();
  const idle = await readLane(environment, lane);
  if (idle.laneState.currentOperationId !== null || idle.leafId !== leafId) {
    throw new Error(`lane ${lane} was moved while it was reserved`);
  }
  return idle;
}

async function validateNavigation(
  { environment, lane }: StructuralCall,
  { leafId }: FoundLane,
  asked: {
    readonly targetId: string | null;
    readonly summarize: boolean;
    readonly label: string | undefined;
  },
): Promise<Result<undefined, InvalidNavigation | UnknownTarget>> {
  const { targetId, summarize, label } = asked;
  const invalid = (reason: string) => err(invalidNavigation(lane, reason));
  if (targetId === leafId) return invalid("it stands at the target already");
  if (targetId === null && label !== undefined) return invalid("the root cannot have a label");
  if (targetId === null && summarize) return invalid("a summary needs an entry to hang below, not the root");
  if (leafId === null && summarize)
    return invalid("it stands at the root, where there is nothing to summarize");
  if (targetId !== null && !(await environment.session.getEntries([targetId])).has(targetId)) {
    return err(new UnknownTarget({ message: `there is no entry ${targetId} in this session`, targetId }));
  }
  return ok(undefined);
}

function invalidNavigation(lane: string, reason: string): InvalidNavigation {
  return new InvalidNavigation({ message: `lane ${lane} cannot be moved: ${reason}`, lane, reason });
}

/** What is wrong with the texts of a caller, who may not have been type-checked. */
function textIssue(texts: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined && !(typeof text === "string" && text.isWellFormed())) {
      return `${name} should be a text without lone surrogates`;
    }
  }
  return undefined;
}

function acceptanceOf({ environment, lane, operationId }: StructuralCall, { laneState, leafId }: FoundLane) {
  return { lane, laneState, leafId, operationId, startedAt: environment.clock.now() };
}
