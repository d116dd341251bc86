/**
 * The writer lease: one process owns one session (spec §1.7).
 *
 * Terms. *Owner*: a name for one life of a writer. *Fence*: a number that rises with every claim of a session and
 * never falls, also not across releases. *Held*: the row of `writer_lease` carries our (owner, fence).
 *
 * Invariants.
 * 1. A claim succeeds only over no lease, or over one whose time has run out.
 * 2. A commit checks (owner, fence) inside its own BEGIN IMMEDIATE. A writer that was superseded commits nothing.
 * 3. A lease that ran out and was not taken over is still held: nobody wrote in between.
 * 4. Only the holder's own row is ever renewed or released.
 *
 * A duration of 0 is legal: every claim over such a lease succeeds at once, also if the clock stepped back, and the
 * fence alone keeps a superseded writer out. Runs over virtual time use it where waiting for a dead writer would only
 * move their clock.
 *
 * A commit renews when a quarter of the duration is used up, not each time: the row costs a page of the WAL, and
 * a lease of ten seconds is not made safer by moving its end by a millisecond.
 */
import type { Clock } from "../../foundation/index.ts";
import { LeaseLost } from "../contract.ts";
import type { Connection } from "./connection.ts";

/** What tells one claim on a session from every other. */
export interface Claim {
  readonly ownerId: string;
  readonly fence: number;
}

/** Who holds a session, and until when. */
export interface LeaseHolder extends Claim {
  readonly expiresAtMs: number;
}

/** How long a claim lasts unless it is renewed, in ms. */
export const LEASE_DURATION_MS = 10_000;

/** Another life holds the session, and the caller did not want to wait until its lease runs out. */
export class LeaseHeld extends Error {
  override readonly name = "LeaseHeld";
  readonly code = "LEASE_HELD";
  readonly holder: LeaseHolder;

  constructor(holder: LeaseHolder, file: string | undefined) {
    super(
      `${file ?? "the session"} is held by writer ${holder.ownerId} until ${holder.expiresAtMs} (Unix ms); ` +
        "close that writer, or wait until its lease runs out",
    );
    this.holder = holder;
  }
}

export interface LeaseOptions {
  readonly clock: Clock;
  /** Names this life. Two lives that may overlap should differ; the fence holds even if they do not. */
  readonly ownerId: string;
  readonly durationMs: number;
}

/** One claim on a session, from the fence that it got to its release. */
export class WriterLease {
  readonly ownerId: string;
  readonly fence: number;
  readonly #connection: Connection;
  readonly #durationMs: number;

  private constructor(connection: Connection, { ownerId, durationMs }: LeaseOptions, fence: number) {
    this.#connection = connection;
    this.#durationMs = durationMs;
    this.ownerId = ownerId;
    this.fence = fence;
  }

  /** Writes a claim with the next fence. Runs inside the caller's transaction, over no live lease of another. */
  static write(connection: Connection, options: LeaseOptions): WriterLease {
    const [lastFence] = connection.statement(READ_LAST_FENCE).get() as [number];
    const lease = new WriterLease(connection, options, lastFence + 1);
    connection.statement(WRITE_LAST_FENCE).run(lease.fence);
    const expiresAtMs = expiryOf(options.clock.now(), options.durationMs);
    connection.statement(WRITE_LEASE).run(options.ownerId, lease.fence, expiresAtMs);
    return lease;
  }

  /**
   * Claims a session, waiting through the clock while another life holds it. The wait ends at the holder's expiry,
   * or is refused once it would last longer than `waitMsMax` in all; 0 refuses at once.
   * @throws LeaseHeld; StorageFault when the medium fails.
   */
  static async claim(connection: Connection, options: LeaseOptions, waitMsMax: number): Promise<WriterLease> {
    for (let waitedMs = 0; ; ) {
      const nowMs = options.clock.now();
      const claimed = connection.immediate(() => {
        const holder = readHolder(connection);
        if (holder !== undefined && nowMs < holder.expiresAtMs) return holder;
        return WriterLease.write(connection, options);
      });
      if (claimed instanceof WriterLease) return claimed;
      const delayMs = claimed.expiresAtMs - nowMs;
      if (waitedMs + delayMs > waitMsMax) throw new LeaseHeld(claimed, connection.file);
      await options.clock.sleep(delayMs);
      waitedMs += delayMs;
    }
  }

  /**
   * Proves the lease held, and renews it when due. Runs first in every transaction of the writer.
   * @throws LeaseLost when another life has claimed the session.
   */
  assertHeld(nowMs: number): void {
    const holder = readHolder(this.#connection);
    if (!isClaim(holder, this)) throw lostLease(this, holder);
    if (this.#durationMs === 0 || holder.expiresAtMs - nowMs >= this.#durationMs * RENEW_BELOW) return;
    const expiresAtMs = expiryOf(nowMs, this.#durationMs);
    this.#connection.statement(RENEW_LEASE).run(expiresAtMs, this.ownerId, this.fence);
  }

  /** Removes the claim if it is still this one; a superseded owner removes nothing. */
  release(): void {
    releaseLease(this.#connection, this);
  }
}

/** Whether a claim is the one that holds the session. */
export function isClaim(holder: LeaseHolder | undefined, { ownerId, fence }: Claim): holder is LeaseHolder {
  return holder?.ownerId === ownerId && holder.fence === fence;
}

/** What a writer is told whose claim no longer holds the session. */
export function lostLease({ ownerId, fence }: Claim, holder: LeaseHolder | undefined): LeaseLost {
  const now = holder === undefined ? "has been released" : `belongs to ${holder.ownerId} (${holder.fence})`;
  return new LeaseLost(
    `writer ${ownerId} (fence ${fence}) was superseded: the session ${now}; ` +
      "nothing was written, reopen the session to go on",
    undefined,
  );
}

/** Removes the claim with this owner and fence, if it is still the one that holds the session. */
export function releaseLease(connection: Connection, { ownerId, fence }: Claim): void {
  connection.immediate(() => {
    connection.statement(RELEASE_LEASE).run(ownerId, fence);
  });
}

/** Who holds the session, whether or not the time has run out. */
export function readHolder(connection: Connection): LeaseHolder | undefined {
  const row = connection.statement(READ_LEASE).get();
  if (row === undefined) return undefined;
  const [ownerId, fence, expiresAtMs] = row as [string, number, number];
  return { ownerId, fence, expiresAtMs };
}

/** The end of a lease, Unix ms. One without duration is over before any time. */
function expiryOf(nowMs: number, durationMs: number): number {
  return durationMs === 0 ? 0 : nowMs + durationMs;
}

/** The share of the duration that a lease has left when a commit renews it. */
const RENEW_BELOW = 0.75;

const READ_LEASE = "SELECT owner_id, fence, expires_at_ms FROM writer_lease WHERE rowid = 1";
const WRITE_LEASE =
  "INSERT OR REPLACE INTO writer_lease(rowid, owner_id, fence, expires_at_ms) VALUES (1, ?, ?, ?)";
const RENEW_LEASE =
  "UPDATE writer_lease SET expires_at_ms = ? WHERE rowid = 1 AND owner_id = ? AND fence = ?";
const RELEASE_LEASE = "DELETE FROM writer_lease WHERE rowid = 1 AND owner_id = ? AND fence = ?";
const READ_LAST_FENCE = "SELECT last_fence FROM session WHERE rowid = 1";
const WRITE_LAST_FENCE = "UPDATE session SET last_fence = ? WHERE rowid = 1";
