import type { Boards } from '@crewboard/board';
import { asUnavailable } from '@crewboard/board';
import type { BoardEvent } from '@crewboard/contracts';
import type { Redis } from 'ioredis';
import { pause } from './lease.ts';
import type { Log } from './log.ts';
import { type RecentEvents, recentEvents } from './recent-events.ts';
import { createTurns, type Turns } from './turns.ts';

/** How long one read blocks: also how late the first event of a board that was just joined may be noticed. */
export const EVENTS_BLOCK_MS = 100;
const RETRY_MS = 500;

/** One follower's view of a log. */
export interface Following {
  /** Events after `cursor` as far as they have been read for all followers; undefined: read the log. */
  after(cursor: string): readonly BoardEvent[] | undefined;
  leave(): void;
}

/** Tells followers that a board's log has grown. Each takes what is new at its own pace. */
export interface EventHub {
  /** Calls `onGrowth` after each growth of the job's log past `after`, until the follower leaves. */
  follow(jobId: string, after: string, onGrowth: () => void): Following;
  /** In which followers read what lies further back, a page a turn. */
  readonly turns: Turns;
  close(): void;
}

interface Followed {
  recent: RecentEvents;
  listeners: Set<() => void>;
}

/** One blocking reader for all followers of a process, on a connection of its own. */
export function createEventHub(reader: Redis, boards: Boards, log: Log): EventHub {
  const followed = new Map<string, Followed>();
  const closed = new AbortController();
  let wake = () => {};

  async function readOnce(): Promise<void> {
    const jobs = [...followed].map(([jobId, { recent }]) => ({
      key: boards.keys.board(jobId, 'events'),
      jobId,
      last: recent.last,
    }));
    const streams = [...jobs.map(({ key }) => key), ...jobs.map(({ last }) => last)];
    const found = await reader.xread('COUNT', 1000, 'BLOCK', EVENTS_BLOCK_MS, 'STREAMS', ...streams);
    for (const [key, entries] of found ?? []) {
      const job = jobs.find((candidate) => candidate.key === String(key));
      const state = job === undefined ? undefined : followed.get(job.jobId);
      const last = entries.at(-1)?.[0];
      if (job === undefined || state === undefined || last === undefined) continue;
      try {
        state.recent.add(boards.parseEvents(job.jobId, entries));
      } catch {
        // Whoever reads the log itself is told what is wrong with it.
        state.recent.skipTo(last);
      }
      for (const listener of state.listeners) listener();
    }
  }

  async function run(): Promise<void> {
    while (!closed.signal.aborted) {
      if (followed.size === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      await readOnce().catch(async (error: unknown) => {
        if (closed.signal.aborted) return;
        log.warn({ err: asUnavailable(error) }, 'events can not be followed for the moment');
        await pause(RETRY_MS, closed.signal);
      });
    }
  }
  void run();

  return {
    turns: createTurns(),
    follow(jobId, after, onGrowth) {
      const state = followed.get(jobId) ?? { recent: recentEvents(after), listeners: new Set() };
      followed.set(jobId, state);
      state.listeners.add(onGrowth);
      wake();
      return {
        after: (cursor) => state.recent.after(cursor),
        leave() {
          state.listeners.delete(onGrowth);
          if (state.listeners.size === 0 && followed.get(jobId) === state) followed.delete(jobId);
        },
      };
    },
    close() {
      closed.abort();
      wake();
      reader.disconnect();
    },
  };
}
