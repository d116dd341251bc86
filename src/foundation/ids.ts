/**
 * UUIDv7 ids, with followers (spec §1.2).
 *
 * Terms. *Leader*: an id minted at `now()`. *Follower*: an id with the same 48-bit time as a leader and a fresh
 * random tail, so that an assistant and its tool results stay together in id order, also across midnight.
 * *Incarnation*: one life of the process; the ids of two incarnations are unrelated streams under one seed.
 *
 * Invariants.
 * 1. Leaders of one generator rise strictly, also when the clock stands still or steps back, however far: the time of
 *    the last leader is held until the clock has passed it.
 * 2. A follower carries exactly the given time.
 * 3. The ids of an incarnation depend on (seed, incarnation, order of minting, clock) and on nothing else: never on
 *    how the last process died.
 */
import { UUID, V7Generator } from "uuidv7";
import type { Clock } from "./clock.ts";
import { type Random, seededRandom } from "./random.ts";

/** Mints ids. With a time, mints a follower of that time. */
export interface IdGenerator {
  next(timestampMs?: number): string;
}

/** A generator over a clock and a random source. */
export function createIdGenerator(clock: Clock, random: Random): IdGenerator {
  const leaders = new V7Generator(random);
  leaders.setRollbackAllowance(TIME_MAX_MS);
  return {
    next(timestampMs) {
      if (timestampMs === undefined) return leaders.generateOrResetWithTs(clock.now()).toString();
      return idAt(timestampMs, random);
    },
  };
}

/** An id of exactly this time (Unix ms, below 2^48), with a tail of 74 bits from the random source. */
export function idAt(timestampMs: number, random: Random): string {
  const randomA = random.nextUint32() >>> 20;
  return UUID.fromFieldsV7(timestampMs, randomA, random.nextUint32() >>> 2, random.nextUint32()).toString();
}

/** The greatest 48-bit time: no step back is so large that the generator would start over. */
const TIME_MAX_MS = 2 ** 48 - 1;

/** The generator of one life of a process; see invariant 3. */
export function idsOfIncarnation(seed: number, incarnation: number, clock: Clock): IdGenerator {
  return createIdGenerator(clock, seededRandom(seed, "ids", incarnation));
}

/** The 48-bit time of a UUIDv7, in Unix milliseconds. */
export function timestampOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether a text is a UUIDv7 in canonical lower case. */
export function isUuidV7(text: string): boolean {
  return UUID_V7.test(text);
}
