import { setTimeout as delay } from 'node:timers/promises';
import { type Boards, type Hold, isLeaseLost } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';

/** Why a holder had to stop at once. */
export type LeaseStop =
  /** Somebody ended the attempt, or the job: its writes would be refused. */
  | 'lost'
  /** The job is being cancelled. */
  | 'cancelled'
  /** Redis was away for so long that the lease may be over: stop now, go on if the token is still current. */
  | 'fenced';

export interface LeaseKeeper {
  /** Aborts when the holder must stop; a new one stands here after a fence was lifted. */
  readonly signal: AbortSignal;
  readonly stopped: LeaseStop | undefined;
  /** The job is paused, as far as is known: by the last heartbeat, or by news since. */
  readonly paused: boolean;
  /** After a fence: resolves true once a heartbeat was answered (the token is still current), false when it is lost. */
  untilSafe(signal: AbortSignal): Promise<boolean>;
  /** Stops because of news from elsewhere, such as a cancel over pub/sub. */
  stop(why: LeaseStop): void;
  /** Takes the job for paused because of news from elsewhere, until a later heartbeat says otherwise. */
  pause(): void;
  /** Ends the heartbeats. */
  close(): void;
}

/** The share of a lease that is kept back: the holder stops that long before others may start. */
const MARGIN_SHARE = 0.1;

function isOver(error: unknown): boolean {
  if (isLeaseLost(error)) return true;
  return error instanceof CrewboardError && ['terminal', 'not_found', 'not_owner'].includes(error.code);
}

/**
 * Keeps the lease of one attempt by a heartbeat every quarter of it, also during long model calls, and fences the
 * holder by its own monotonic clock: past (last answered heartbeat sent + lease - margin) it has to stop.
 */
export function keepLease(
  boards: Boards,
  hold: Hold,
  leaseMs: number,
  claimSentAt = performance.now(),
): LeaseKeeper {
  let controller = new AbortController();
  let stopped: LeaseStop | undefined;
  let confirmedAt = claimSentAt;
  let paused = false;
  let pausedAt = Number.NEGATIVE_INFINITY;
  const isStale = () => performance.now() > confirmedAt + leaseMs * (1 - MARGIN_SHARE);
  let beating = false;
  const waiting = new Set<(safe: boolean) => void>();

  function stop(why: LeaseStop): void {
    if (stopped === 'lost' || stopped === 'cancelled') return;
    stopped = why;
    controller.abort(new Error(`the attempt must stop: ${why}`));
    if (why !== 'fenced') for (const resolve of waiting) resolve(false);
  }

  async function beat(): Promise<void> {
    // A heartbeat that hangs (Redis away) is not followed by more of them; the fence needs no answer.
    if (beating) return;
    beating = true;
    const sentAt = performance.now();
    try {
      const { cancelling, paused: isPaused } = await boards.heartbeat(hold, leaseMs);
      confirmedAt = sentAt;
      if (sentAt > pausedAt) paused = isPaused;
      if (cancelling) stop('cancelled');
      // An answer to a heartbeat that hung for long proves nothing about now: the next one will.
      else if (isStale()) setImmediate(() => void beat());
      else for (const resolve of waiting) resolve(true);
    } catch (error) {
      if (isOver(error)) stop('lost');
    } finally {
      beating = false;
    }
  }

  const check = () => {
    if (stopped === undefined && isStale()) stop('fenced');
  };
  const beats = setInterval(() => {
    check();
    void beat();
  }, leaseMs / 4);
  const checks = setInterval(check, leaseMs / 20);
  if (performance.now() - claimSentAt > leaseMs / 4) void beat();

  return {
    get signal() {
      return controller.signal;
    },
    get stopped() {
      return stopped;
    },
    get paused() {
      return paused;
    },
    async untilSafe(signal) {
      if (stopped !== 'fenced') return stopped === undefined;
      let giveUp = () => {};
      const safe = await new Promise<boolean>((resolve) => {
        giveUp = () => resolve(false);
        waiting.add(resolve);
        signal.addEventListener('abort', giveUp);
        if (signal.aborted) giveUp();
      });
      // The signal lives as long as its process, and there may be many fences.
      signal.removeEventListener('abort', giveUp);
      waiting.clear();
      if (!safe) return false;
      stopped = undefined;
      controller = new AbortController();
      return true;
    },
    stop,
    pause() {
      paused = true;
      pausedAt = performance.now();
    },
    close() {
      clearInterval(beats);
      clearInterval(checks);
    },
  };
}

/** Waits `ms`, or until `signal` aborts; never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
