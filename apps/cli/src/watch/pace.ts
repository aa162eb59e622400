/** How fast a job's tasks end. */
export interface Pace {
  perMinute: number;
  /** How long the open ones take at this pace. */
  leftMs: number;
}

/** Of the latest ends: older ones say nothing of how it goes now; but as many as fill the least span of time. */
const ENDS_MOST = 50;
const ENDS_KEPT = 1000;
const ENDS_LEAST = 5;
const SPAN_LEAST_MS = 2000;

/** Tells the pace from the times at which tasks ended. */
export interface PaceKeeper {
  /** A task ended at `atMs`, by the server's clock. */
  ended(atMs: number): void;
  /** The pace until `nowMs`; undefined until enough tasks have ended to say. */
  at(nowMs: number, open: number): Pace | undefined;
}

/** Begins with no end known. */
export function paceKeeper(): PaceKeeper {
  let ends: number[] = [];
  return {
    ended(atMs) {
      if (!Number.isFinite(atMs)) return;
      ends.push(atMs);
      ends.sort((a, b) => a - b);
      const recent = ends.findIndex((at) => at > (ends.at(-1) ?? 0) - SPAN_LEAST_MS);
      ends = ends.slice(Math.max(0, Math.min(ends.length - ENDS_MOST, recent - 1))).slice(-ENDS_KEPT);
    },
    at(nowMs, open) {
      const [first] = ends;
      if (first === undefined || ends.length < ENDS_LEAST) return undefined;
      // Up to now and not to the last end: a job that has come to a halt slows down.
      const spanMs = nowMs - first;
      if (spanMs < SPAN_LEAST_MS) return undefined;
      const perMs = (ends.length - 1) / spanMs;
      return { perMinute: perMs * 60_000, leftMs: open / perMs };
    },
  };
}
