import { CrewboardError } from '@crewboard/contracts';

/** Bounds of trying again: how often in a row, and the first and the longest wait. */
export interface Retries {
  tries: number;
  baseMs: number;
  maxMs: number;
}

/** The longest wait that a server's `Retry-After` is heeded for. */
export const ASKED_WAIT_MOST_MS = 60_000;

/** True for a failure that may be over soon: the server or the way to it is down, or it asks for fewer calls. */
export function isPassing(error: unknown): error is CrewboardError {
  if (!(error instanceof CrewboardError) || error.retry !== 'later') return false;
  return error.code === 'unavailable' || error.code === 'rate_limited';
}

/** True when this client gave up waiting, as opposed to a connection that failed or an answer that said no. */
export function isTimeout(error: unknown): boolean {
  return error instanceof CrewboardError && error.extras.timedOut === true;
}

/** How long the server asked to wait, if it did. */
export function askedWaitMs(error: unknown): number | undefined {
  const asked = error instanceof CrewboardError ? error.extras.retryAfterMs : undefined;
  return typeof asked === 'number' ? asked : undefined;
}

/** How long to wait after so many failures in a row, the last of them `error`. */
export function waitMs({ baseMs, maxMs }: Retries, failures: number, error: unknown): number {
  // Half of it random, so that the watchers of a restarted server do not come back all at once.
  const ownMs = Math.min(maxMs, baseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
  return Math.max(ownMs, Math.min(askedWaitMs(error) ?? 0, ASKED_WAIT_MOST_MS));
}

/** Waits `ms`, or less when `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
  });
}

/**
 * Runs a call that is safe to repeat, again after failures that may pass, within `retries`. A call that timed out is
 * not repeated, and neither is one that the server wants later than {@link ASKED_WAIT_MOST_MS}. Rejects with the
 * last failure, or the reason of `signal`.
 */
export async function withRetries<T>(
  retries: Retries,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await run();
    } catch (error) {
      const tooLate = (askedWaitMs(error) ?? 0) > ASKED_WAIT_MOST_MS;
      if (failures > retries.tries || !isPassing(error) || isTimeout(error) || tooLate) throw error;
      await pause(waitMs(retries, failures, error), signal);
      signal?.throwIfAborted();
    }
  }
}
