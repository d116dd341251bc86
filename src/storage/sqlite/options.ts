/**
 * What a SQLite store is made of, and what the choices mean when they are left out.
 */
import type { Clock, RepeatingTimer } from "../../foundation/index.ts";
import type { Connect } from "./connection.ts";
import { LEASE_DURATION_MS, type LeaseOptions } from "./lease.ts";

export interface SqliteOptions {
  readonly clock: Clock;
  /** Names this life of the writer in its lease; two lives that may overlap should differ. */
  readonly ownerId: string;
  /** How long a claim lasts unless renewed, in ms. Default `LEASE_DURATION_MS`. */
  readonly leaseDurationMs?: number;
  /**
   * How long `open` waits, through the clock, for the lease of another life to run out, in ms; 0 refuses at once.
   * Default: one duration, which is what a dead writer of the same kind can cost.
   */
  readonly leaseWaitMsMax?: number;
  /** Renews the lease while nothing is committed, as `hostRepeatingTimer` does. Without one, only commits renew. */
  readonly idleTimer?: RepeatingTimer;
  /** How long SQLite waits for another connection's lock, in ms. */
  readonly busyTimeoutMs?: number;
  /** The newest storage version that may be opened. Default: the one of this program. */
  readonly storageVersion?: number;
  /** The driver; the host's unless a test or a fault stands in for it. */
  readonly connect?: Connect;
}

/** The lease that a store with these options claims. */
export function leaseOptionsOf({ clock, ownerId, leaseDurationMs }: SqliteOptions): LeaseOptions {
  return { clock, ownerId, durationMs: leaseDurationMs ?? LEASE_DURATION_MS };
}

/** How long `open` waits for another life, in ms. */
export function leaseWaitOf(options: SqliteOptions): number {
  return options.leaseWaitMsMax ?? leaseOptionsOf(options).durationMs;
}

/** Starts the renewals of an idle store, and returns what stops them. A lease without duration is never renewed. */
export function startIdleTimer(options: SqliteOptions, renew: () => void): () => void {
  const { durationMs } = leaseOptionsOf(options);
  const timer = durationMs > 0 ? options.idleTimer : undefined;
  return timer?.(durationMs / IDLE_RENEWALS, renew) ?? (() => {});
}

/** Idle renewals per lease duration: two may be late before the lease runs out. */
const IDLE_RENEWALS = 3;
