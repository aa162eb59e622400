import type { Boards } from '@crewboard/board';
import { TERMINAL_EVENT_TYPES } from '@crewboard/contracts';
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
    /** Waits for a notice, at most `ms`, or until `signal` aborts. */
    async wait(ms: number, signal: AbortSignal): Promise<void> {
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
      noticed = false;
      resolve = undefined;
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
 * A job's events after `after`, then live: read by the follower itself in pages, so that a slow reader holds nothing
 * but its place. Ends after the terminal event, unless the job was reopened, or when `signal` aborts.
 */
export async function* followEvents(
  boards: Boards,
  hub: EventHub,
  jobId: string,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<FollowItem> {
  const start = await startOf(boards, jobId, after);
  let cursor = start.cursor;
  const latch = createLatch();
  const leave = hub.follow(jobId, start.asOf, () => latch.notice());
  try {
    if (start.resync !== undefined) yield { kind: 'resync', asOf: start.resync };
    while (!signal.aborted) {
      const events = await boards.events(jobId, cursor, PAGE);
      for (const event of events) {
        cursor = event.id;
        yield { kind: 'event', event };
        if (signal.aborted) return;
      }
      const last = events.at(-1);
      if (last !== undefined && TERMINAL_EVENT_TYPES.includes(last.type)) return;
      if (events.length === 0) {
        const state = await boards.job(jobId);
        if (state.endedAt > 0 && state.asOf === cursor) return;
        await latch.wait(LOOK_ANYWAY_MS, signal);
      }
    }
  } finally {
    leave();
  }
}
