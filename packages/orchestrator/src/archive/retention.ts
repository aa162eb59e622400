import type { Boards } from '@crewboard/board';
import { pause } from '../lease.ts';
import type { Log } from '../log.ts';
import { isMissing } from '../missing.ts';
import { type ArchiveJob, wholeStamp } from './archive-job.ts';
import type { ArchiveStore } from './archive-store.ts';
import type { DeleteJob } from './delete-job.ts';

/** Jobs that one look finds and that one round removes; the next round goes on. */
const FOUND_AT_ONCE = 100;
const REMOVED_MOST = 100;
/** Those that can't be removed, such as over a file that can't be written, stand before others, but not for ever. */
const STUCK_MOST = 1000;
/** Rounds come as often as the retention asks for, within these bounds. */
const ROUND_LEAST_MS = 500;
const ROUND_MOST_MS = 60_000;
/** How often all listed jobs are looked through for ended ones that nobody archived. */
const MEND_EVERY_MS = 600_000;
const LISTED_AT_ONCE = 100;
/** An end that is younger has a hand-over under way. */
const ENDED_LEAST_MS = 60_000;
/** A write of an archive takes far less. */
const LEFTOVER_MS = 3_600_000;

interface RetentionDependencies {
  /** Boards in Redis alone. */
  boards: Boards;
  archives: ArchiveStore;
  archiveJob: ArchiveJob;
  deleteJob: DeleteJob;
  retentionMs: number;
  log: Log;
}

/**
 * Takes ended jobs out of Redis when their time has come, in every worker and API process. What it mends, and why
 * mending twice is harmless:
 * - ended jobs without an archive, also of older versions: the hand-over sets a level;
 * - archives that are missing, damaged, or of a state before the last end: written anew before anything is removed;
 * - deletions that were cut short: each step removes what is left.
 */
export function createRetention(dependencies: RetentionDependencies) {
  const { boards, archives, archiveJob, deleteJob, retentionMs, log } = dependencies;
  const { index } = boards;

  /** Removes one board, with a whole archive of its state now; true when it is gone. */
  async function removeJob(jobId: string, signal: AbortSignal): Promise<boolean> {
    if (!(await archiveJob(jobId, signal))) return false;
    const stamp = await wholeStamp(archives, jobId);
    // Opened again; or deleted meanwhile, and then there is nothing left to be removed.
    if (stamp === undefined && (await boards.isInRedis(jobId))) return false;
    if (stamp !== undefined && (await boards.removeArchived(jobId, stamp, retentionMs)) !== 'removed')
      return false;
    await index.removeEnded(jobId);
    if (stamp === undefined) return true;
    log.info({ jobId }, 'an ended job has left Redis; it is read from its archive');
    return true;
  }

  /**
   * Does something to one job, and answers what that answers; when it fails, the others have theirs done all the same,
   * and it its own next time.
   */
  async function forOne<T>(jobId: string, signal: AbortSignal, what: string, work: () => Promise<T>) {
    signal.throwIfAborted();
    return work().catch((error: unknown) => {
      if (!signal.aborted) log.warn({ jobId, err: error }, `${what}; the next round tries again`);
      return undefined;
    });
  }

  async function removeDue(signal: AbortSignal): Promise<void> {
    let removed = 0;
    let stuck = 0;
    while (removed < REMOVED_MOST && stuck < STUCK_MOST) {
      const due = await index.endedFor(retentionMs, stuck, FOUND_AT_ONCE);
      for (const jobId of due) {
        const done = await forOne(jobId, signal, 'an ended job stays in Redis', () =>
          removeJob(jobId, signal),
        );
        if (done === true) removed++;
        else stuck++;
      }
      if (due.length < FOUND_AT_ONCE) return;
    }
  }

  async function goOnDeleting(signal: AbortSignal): Promise<void> {
    for (const { jobId, project } of await index.deletions())
      await forOne(jobId, signal, 'a job is not wholly deleted', () => deleteJob(jobId, project));
  }

  /** True for a job that ended a while ago and whose archive nobody knows of. */
  async function isOrphan(jobId: string): Promise<boolean> {
    if (await index.isEndedListed(jobId)) return false;
    const found = await boards.stampOf(jobId).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    return found !== undefined && (await index.isPast(found.endedAt, ENDED_LEAST_MS));
  }

  async function mend(signal: AbortSignal): Promise<void> {
    await archives.removeLeftovers(LEFTOVER_MS);
    for (let cursor: string | undefined; ; ) {
      const page = await index.listed('*', LISTED_AT_ONCE, cursor);
      for (const jobId of page)
        await forOne(jobId, signal, 'an ended job has no archive', async () => {
          if (await isOrphan(jobId)) await archiveJob(jobId, signal);
        });
      cursor = page.at(-1);
      if (page.length < LISTED_AT_ONCE) return;
    }
  }

  const everyMs = Math.min(ROUND_MOST_MS, Math.max(ROUND_LEAST_MS, retentionMs / 10));

  return {
    removeJob,
    mend,
    /** One round: deletions, and the jobs whose time has come. */
    async round(signal: AbortSignal): Promise<void> {
      await goOnDeleting(signal);
      await removeDue(signal);
    },

    /** Makes rounds until `signal` aborts. */
    async run(signal: AbortSignal): Promise<void> {
      let mendAt = performance.now();
      while (!signal.aborted) {
        const mends = performance.now() >= mendAt;
        if (mends) mendAt = performance.now() + MEND_EVERY_MS;
        await (mends ? mend(signal) : Promise.resolve())
          .then(() => this.round(signal))
          .catch((error: unknown) => {
            if (!signal.aborted)
              log.warn({ err: error }, 'no round of the retention; the next one tries again');
          });
        await pause(everyMs, signal);
      }
    },
  };
}
