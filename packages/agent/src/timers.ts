/** The longest that a timer of Node can wait: about 24.8 days. A longer one would ring at once. */
const TIMER_MOST_MS = 2 ** 31 - 1;

/** As much of `ms` as a timer can wait. */
export function timerMs(ms: number): number {
  return Math.min(ms, TIMER_MOST_MS);
}
