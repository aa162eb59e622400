import type { Boards, JobState } from '@crewboard/board';
import { type BoardEvent, type EventFilter, isTerminalEvent, isWanted } from '@crewboard/contracts';
import type { EventHub } from './event-hub.ts';
import type { FollowItem } from './service.ts';

const PAGE = 100;
/** Without news from the hub the log is read anyway: no wait rests on a notice alone. */
const LOOK_ANYWAY_MS = 5000;
/** How often a follower is told its place while all that comes is left out, in ms. */
const PLACE_MS = 1000;

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

/** What is followed. */
export interface Followable {
  boards: Boards;
  hub: EventHub;
  /** Reads the job, or refuses whoever may not see it. */
  seeJob: () => Promise<JobState>;
}

async function startOf({ boards, seeJob }: Followable, jobId: string, after: string | undefined) {
  const { asOf } = await seeJob();
  if (after === undefined) return { cursor: '0-0', asOf };
  // Told at once: else a break before the first event would lose what happens meanwhile.
  if (after === 'now') return { cursor: asOf, asOf, place: asOf };
  if (after === '0-0' || (await boards.hasEvent(jobId, after))) return { cursor: after, asOf };
  return { cursor: asOf, asOf, resync: asOf };
}

/**
 * Knows how far a follower has looked past events that it does not want: the place from which it can go on after a
 * break, however long nothing came for it. It is told of that now and then, not of each event.
 */
function createPlace(filter: EventFilter, start: string | undefined) {
  let untold = start;
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    isUntold: () => untold !== undefined,
    *wantedOf(events: readonly BoardEvent[]): Generator<FollowItem> {
      for (const event of events) {
        const wanted = isWanted(event, filter);
        untold = wanted ? undefined : event.id;
        if (wanted) yield { kind: 'event', event };
      }
    },
    /** The place, when the last word of it is {@link PLACE_MS} old or `always`. */
    *told(always: boolean): Generator<FollowItem> {
      if (untold === undefined || (!always && performance.now() - toldAt < PLACE_MS)) return;
      yield { kind: 'place', id: untold };
      untold = undefined;
      toldAt = performance.now();
    },
  };
}

/**
 * A job's events after `after` that `filter` lets through, then live: read by the follower itself in pages, so that a
 * slow reader holds nothing but its place. Ends after the terminal event, unless the job was reopened, or when `signal`
 * aborts.
 */
export async function* followEvents(
  followed: Followable,
  jobId: string,
  { after, filter = {} }: { after?: string | undefined; filter?: EventFilter | undefined },
  signal: AbortSignal,
): AsyncGenerator<FollowItem> {
  const { boards, hub, seeJob } = followed;
  const start = await startOf(followed, jobId, after);
  let cursor = start.cursor;
  const place = createPlace(filter, start.place);
  const latch = createLatch();
  const following = hub.follow(jobId, start.asOf, () => latch.notice());
  // At the beginning, and whenever no news came for long, Redis itself is asked.
  let isSure = false;
  try {
    if (start.resync !== undefined) yield { kind: 'resync', asOf: start.resync };
    while (!signal.aborted) {
      const read = isSure ? following.after(cursor) : undefined;
      // Many who replay a long log at once would leave no time for anybody else.
      if (read === undefined) await hub.turns.mine();
      const events = read ?? (await boards.events(jobId, cursor, PAGE));
      for (const item of place.wantedOf(events)) {
        yield item;
        if (signal.aborted) return;
      }
      yield* place.told(events.length >= PAGE);
      const last = events.at(-1);
      cursor = last?.id ?? cursor;
      // A whole page may end with it by chance, and what reopened the job stand on the next one.
      if (last !== undefined && isTerminalEvent(last) && events.length < PAGE) return;
      if (events.length > 0) continue;
      if (!isSure) {
        const state = await seeJob();
        if (state.endedAt > 0 && state.asOf === cursor) return yield* place.told(true);
      }
      isSure = await latch.wait(place.isUntold() ? PLACE_MS : LOOK_ANYWAY_MS, signal);
    }
  } finally {
    following.leave();
  }
}
