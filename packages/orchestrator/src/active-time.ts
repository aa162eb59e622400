import type { Attempt } from '@crewboard/contracts';

/**
 * True for an attempt that something outside it broke off: a pause, trouble with the model, a shutdown. A lead that
 * waits for news parks without a reason.
 */
function isInterrupted({ outcome, reason }: Attempt): boolean {
  return (outcome === 'parked' || outcome === 'released') && reason !== undefined;
}

/**
 * How long, in ms, the attempt that comes after `earlier` (the newest last) was at work already: the attempts right
 * before it that were broken off are its own earlier parts, and the time between them does not count.
 */
export function activeMs(earlier: readonly Attempt[]): number {
  const last = earlier.findLastIndex((attempt) => !isInterrupted(attempt));
  return earlier
    .slice(last + 1)
    .reduce(
      (sum, { startedAt, endedAt = startedAt }) => sum + Date.parse(endedAt) - Date.parse(startedAt),
      0,
    );
}
