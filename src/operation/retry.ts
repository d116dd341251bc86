/**
 * Retry arithmetic: how long to wait before the next attempt (spec §0.7, message-types §10).
 *
 * Both the delay and the resulting time saturate at `Number.MAX_SAFE_INTEGER`, so that no policy, however large its
 * base, can produce a number that a register cannot hold.
 */

/**
 * The wait after attempt `attempt` (from 1) has failed, in ms: retry n waits `baseDelayMs · 2^(n−1)`, and retry n is
 * the one that follows attempt n.
 */
export function retryDelayMs(baseDelayMs: number, attempt: number): number {
  if (baseDelayMs === 0) return 0;
  // 2^(n−1) overflows to Infinity for large n, which the minimum turns into the cap.
  return Math.min(Number.MAX_SAFE_INTEGER, baseDelayMs * 2 ** (attempt - 1));
}

/** The earliest time of the next attempt, Unix ms. */
export function retryNotBefore(nowMs: number, baseDelayMs: number, attempt: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, nowMs) + retryDelayMs(baseDelayMs, attempt));
}
