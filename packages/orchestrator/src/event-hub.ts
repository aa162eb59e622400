import type { Boards } from '@crewboard/board';
import { asUnavailable } from '@crewboard/board';
import type { Redis } from 'ioredis';
import { pause } from './lease.ts';
import type { Log } from './log.ts';

/** How long one read blocks: also how late the first event of a board that was just joined may be noticed. */
export const EVENTS_BLOCK_MS = 100;
const RETRY_MS = 500;

/** Tells followers that a board's log has grown. They read it themselves, each at its own pace. */
export interface EventHub {
  /** Calls `onGrowth` after each growth of the job's log past `after`; returns how to stop that. */
  follow(jobId: string, after: string, onGrowth: () => void): () => void;
  close(): void;
}

interface Followed {
  last: string;
  listeners: Set<() => void>;
}

/** One blocking reader for all followers of a process, on a connection of its own. */
export function createEventHub(reader: Redis, boards: Boards, log: Log): EventHub {
  const followed = new Map<string, Followed>();
  const closed = new AbortController();
  let wake = () => {};

  async function readOnce(): Promise<void> {
    const jobs = [...followed].map(([jobId, { last }]) => ({
      key: boards.keys.board(jobId, 'events'),
      jobId,
      last,
    }));
    const streams = [...jobs.map(({ key }) => key), ...jobs.map(({ last }) => last)];
    const found = await reader.xread('COUNT', 1000, 'BLOCK', EVENTS_BLOCK_MS, 'STREAMS', ...streams);
    for (const [key, entries] of found ?? []) {
      const job = jobs.find((candidate) => candidate.key === String(key));
      const state = job === undefined ? undefined : followed.get(job.jobId);
      const last = entries.at(-1)?.[0];
      if (state === undefined || last === undefined) continue;
      state.last = last;
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
    follow(jobId, after, onGrowth) {
      const state = followed.get(jobId) ?? { last: after, listeners: new Set() };
      followed.set(jobId, state);
      state.listeners.add(onGrowth);
      wake();
      return () => {
        state.listeners.delete(onGrowth);
        if (state.listeners.size === 0) followed.delete(jobId);
      };
    },
    close() {
      closed.abort();
      wake();
      reader.disconnect();
    },
  };
}
