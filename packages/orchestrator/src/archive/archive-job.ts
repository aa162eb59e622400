import { CrewboardError, newSecret } from '@crewboard/contracts';
import { isMissing } from '../missing.ts';
import type { ArchiveStore } from './archive-store.ts';
import { type JobSource, jobLines } from './job-lines.ts';

/** A job that ends and is opened in turns is left to the next round after as many looks. */
const TRIES = 3;

export interface ArchiveDependencies extends JobSource {
  archives: ArchiveStore;
}

/** Brings the archive of a job to what its board says now; false when another process is at it. */
export type ArchiveJob = (jobId: string, signal: AbortSignal) => Promise<boolean>;

/** The stamp of a whole archive; undefined for one that is damaged or missing. */
export async function wholeStamp(archives: ArchiveStore, jobId: string): Promise<string | undefined> {
  return archives.stampOf(jobId).catch((error: unknown) => {
    if (error instanceof CrewboardError && error.code === 'unavailable') return undefined;
    throw error;
  });
}

/**
 * Makes the hand-over `archive`, which sets a level: of an ended job there is an archive of its state now, and it is
 * listed for its time; of an open one there is none. Any number of processes may do so at once, for what counts in the
 * end is the stamp: a board goes only with an archive of its very state.
 */
export function createArchiveJob({ archives, ...source }: ArchiveDependencies): ArchiveJob {
  const { boards } = source;
  const stampNow = (jobId: string) =>
    boards.stampOf(jobId).catch((error: unknown) => {
      if (isMissing(error)) return 'gone' as const;
      throw error;
    });

  /** True when the archive is of what the board says afterwards, too. */
  async function bring(jobId: string, signal: AbortSignal): Promise<boolean> {
    const now = await stampNow(jobId);
    // Its archive, if any, is all there is of it.
    if (now === 'gone') return true;
    if (now === undefined) {
      await boards.index.removeEnded(jobId);
      await archives.remove(jobId);
      return (await stampNow(jobId)) === undefined;
    }
    if ((await wholeStamp(archives, jobId)) !== now.stamp)
      await archives.write(jobId, jobLines(source, jobId, now.stamp, signal));
    await boards.index.addEnded(jobId, now.endedAt);
    const after = await stampNow(jobId);
    if (after === 'gone') {
      await forgetIfDeleted(jobId);
      return true;
    }
    return after?.stamp === now.stamp;
  }

  /** A deletion that ran beside the write has found no archive to remove. */
  async function forgetIfDeleted(jobId: string): Promise<void> {
    if (!(await boards.index.wasDeleted(jobId))) return;
    await archives.remove(jobId);
    await boards.index.removeEnded(jobId);
  }

  async function bringAtLast(jobId: string, signal: AbortSignal): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      signal.throwIfAborted();
      if (await bring(jobId, signal)) return;
    }
    throw new CrewboardError('unavailable', `${jobId} changed while it was archived.`);
  }

  return async (jobId, signal) => {
    const token = newSecret();
    if (!(await boards.index.lockArchive(jobId, token))) return false;
    await bringAtLast(jobId, signal).finally(() => boards.index.unlockArchive(jobId, token));
    return true;
  };
}
