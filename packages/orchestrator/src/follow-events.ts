import type { Boards } from '@crewboard/board';
import { type BoardEvent, type EventFilter, isTerminalEvent, isWanted } from '@crewboard/contracts';
import type { EventHub } from './event-hub.ts';
import type { FollowItem } from './service.ts';

const PAGE = 200;
/** Without news from the hub the log is read anyway: no wait rests on a notice alone. */
const LOOK_ANYWAY_MS = 5000;

/** A latch that remembers a notice that came while nobody waited. */
function createLatch() {
  let noticed = false;
  let resolve: (() => void) | undefined;
  return {
    notice() {
      noticed = true;
      resolve?.();
    },
    /** Waits for a notice, at most `ms`, or until `signal` aborts; true when one came. */
    async wait(ms: number, signal: AbortSignal): Promise<boolean> {
      if (!noticed && !signal.aborted) {
        await new Promise<void>((done) => {
          const finish = () => {
            clearTimeout(timer);
            // A stream lives for hours and waits thousands of times on one signal.
            signal.removeEventListener('abort', finish);
            done();
          };
          const timer = setTimeout(finish, ms);
          resolve = finish;
          signal.addEventListener('abort', finish);
        });
      }
      const wasNoticed = noticed;
      noticed = false;
      resolve = undefined;
      return wasNoticed;
    },
  };
}

async function startOf(boards: Boards, jobId: string, after: string | undefined) {
  const { asOf } = await boards.job(jobId);
  if (after === undefined) return { cursor: '0-0', asOf };
  if (after === 'now') return { cursor: asOf, asOf };
  if (after === '0-0' || (await boards.hasEvent(jobId, after))) return { cursor: after, asOf };
  return { cursor: asOf, asOf, resync: asOf };
}

/**
 * What a follower is told of a page: the events that it wants and, when the last ones are none of them, the place up to
 * which it has seen the log. From there it can go on after a break, however long nothing came for it.
 */
function* toldOf(events: readonly BoardEvent[], filter: EventFilter): Generator<FollowItem> {
  let leftOut: string | undefined;
  for (const event of events) {
    if (isWanted(event, filter)) yield { kind: 'event', event };
    leftOut = isWanted(event, filter) ? undefined : event.id;
  }
  if (leftOut !== undefined) yield { kind: 'place', id: leftOut };
}

/**
 * A job's events after `after` that `filter` lets through, then live: read by the follower itself in pages, so that a
 * slow reader holds nothing but its place. Ends after the terminal event, unless the job was reopened, or when `signal`
 * aborts.
 */
export async function* followEvents(
  boards: Boards,
  hub: EventHub,
  jobId: string,
  { after, filter = {} }: { after?: string | undefined; filter?: EventFilter | undefined },
  signal: AbortSignal,
): AsyncGenerator<FollowItem> {
  const start = await startOf(boards, jobId, after);
  let cursor = start.cursor;
  const latch = createLatch();
  const following = hub.follow(jobId, start.asOf, () => latch.notice());
  // At the beginning, and whenever no news came for long, Redis itself is asked.
  let isSure = false;
  try {
    if (start.resync !== undefined) yield { kind: 'resync', asOf: start.resync };
    while (!signal.aborted) {
      const read = isSure ? following.after(cursor) : undefined;
      const events = read ?? (await boards.events(jobId, cursor, PAGE));
      for (const item of toldOf(events, filter)) {
        yield item;
        if (signal.aborted) return;
      }
      const last = events.at(-1);
      cursor = last?.id ?? cursor;
      if (last !== undefined && isTerminalEvent(last)) return;
      if (events.length > 0) continue;
      if (!isSure) {
        const state = await boards.job(jobId);
        if (state.endedAt > 0 && state.asOf === cursor) return;
      }
      isSure = await latch.wait(LOOK_ANYWAY_MS, signal);
    }
  } finally {
    following.leave();
  }
}
