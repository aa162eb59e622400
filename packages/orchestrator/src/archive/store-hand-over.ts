import type { Boards, OutboxEntry } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';
import type { MoveJournal } from '../journals/stored-journals.ts';
import type { Log } from '../log.ts';
import type { ArchiveJob } from './archive-job.ts';

/** Hand-overs into stores that one process carries out side by side, and that wait for their turn. */
const AT_ONCE = 4;
const WAITING_MOST = 1000;
/** A hand-over that failed is tried again after that long. */
const REST_MS = 10_000;
/** And one that another process has in hand. */
const BUSY_MS = 1000;
const RESTING_MOST = 10_000;

/** Carries out what goes into stores: slower than all else that a board hands on, so nothing waits for it. */
export interface StoreHandOver {
  /** Starts those entries that are not under way; each is removed from the outbox when it is done. Never throws. */
  start(jobId: string, entries: readonly OutboxEntry[]): void;
  /** Takes nothing more; resolves when what is under way is over. What is left is the sweeper's. */
  close(): Promise<void>;
}

interface HandOverDependencies {
  boards: Boards;
  archiveJob: ArchiveJob;
  moveJournal: MoveJournal;
  log: Log;
}

/** True for an entry whose hand-over is this one's. */
export function goesIntoStore({ kind }: OutboxEntry): boolean {
  return kind === 'archive' || kind === 'journal';
}

/** Makes the hand-over of a process. Two processes may carry out one entry at once. */
export function createStoreHandOver(dependencies: HandOverDependencies): StoreHandOver {
  const { boards, archiveJob, moveJournal, log } = dependencies;
  const closing = new AbortController();
  const waiting: { jobId: string; entry: OutboxEntry }[] = [];
  const known = new Set<string>();
  const restsUntil = new Map<string, number>();
  const lanes = new Set<Promise<void>>();
  const nameOf = (jobId: string, entry: OutboxEntry) => `${jobId}/${entry.id}`;

  /** True when the entry is done with. */
  async function carryOut(jobId: string, { kind, taskId }: OutboxEntry): Promise<boolean> {
    if (kind === 'archive') return archiveJob(jobId, closing.signal);
    await moveJournal(jobId, taskId, closing.signal).catch((error: unknown) => {
      if (!(error instanceof CrewboardError) || error.code !== 'payload_too_large') throw error;
      log.warn({ jobId, taskId }, 'a journal is too large for the artifact store: it stays in Redis');
    });
    return true;
  }

  /** A job that was deleted meanwhile took its outbox with it. */
  const isDeleted = (jobId: string) => boards.index.wasDeleted(jobId).catch(() => false);

  function rest(name: string, ms: number): void {
    if (restsUntil.size >= RESTING_MOST) restsUntil.clear();
    restsUntil.set(name, performance.now() + ms);
  }

  async function handOver(jobId: string, entry: OutboxEntry): Promise<void> {
    const name = nameOf(jobId, entry);
    try {
      if (await carryOut(jobId, entry)) await boards.removeFromOutbox(jobId, [entry.id]);
      // Another process is at it, and will remove the entry.
      else rest(name, BUSY_MS);
    } catch (error) {
      if (closing.signal.aborted || (await isDeleted(jobId))) return;
      log.warn({ jobId, kind: entry.kind, err: error }, 'not stored; the sweeper tries again');
      rest(name, REST_MS);
    } finally {
      known.delete(name);
    }
  }

  async function lane(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (closing.signal.aborted) return;
      await handOver(next.jobId, next.entry);
    }
  }

  return {
    start(jobId, entries) {
      for (const entry of entries) {
        const name = nameOf(jobId, entry);
        const rests = (restsUntil.get(name) ?? 0) > performance.now();
        if (rests || known.has(name) || waiting.length >= WAITING_MOST || closing.signal.aborted) continue;
        restsUntil.delete(name);
        known.add(name);
        waiting.push({ jobId, entry });
      }
      while (lanes.size < AT_ONCE && waiting.length > lanes.size) {
        const running: Promise<void> = lane().finally(() => lanes.delete(running));
        lanes.add(running);
      }
    },
    async close() {
      closing.abort(new Error('the process is ending'));
      await Promise.all(lanes);
    },
  };
}
