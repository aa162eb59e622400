import type { Boards } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';
import type { ArchiveStore } from './archive-store.ts';

/** What is said of a job that has left Redis and whose archive is not where it was put; nothing is changed by it. */
function missingArchive(jobId: string): CrewboardError {
  return new CrewboardError(
    'unavailable',
    `the archive of ${jobId} is missing (archive/${jobId}.jsonl in the data folder): see that CREWBOARD_DATA_DIR names the folder that all processes share, put the file back from a backup of it, or delete the job.`,
    { retry: 'never' },
  );
}

interface Places {
  /** Boards in Redis alone. */
  boards: Pick<Boards, 'isInRedis' | 'index'>;
  archives: ArchiveStore;
}

/** Looks for a job that a call has not found in Redis. */
export interface AwayFromRedis {
  /**
   * What `look` finds in the job's archive. Undefined for a job whose board is in Redis, that was deleted, or that never
   * was: then what Redis said holds. Errors: `unavailable` for one that is listed and whose archive is missing or damaged.
   */
  find<T>(jobId: string, look: (archives: ArchiveStore) => Promise<T | undefined>): Promise<T | undefined>;
}

/**
 * Each question is asked after the one that its answer rests on: a board goes only when its archive is there, so without
 * a board a missing archive is missing; a deletion is noted before it removes anything, and stays noted after it.
 */
export function awayFromRedis({ boards, archives }: Places): AwayFromRedis {
  return {
    async find(jobId, look) {
      if (await boards.isInRedis(jobId)) return undefined;
      const found = await look(archives);
      if (found !== undefined || !(await boards.index.isListed('*', jobId))) return found;
      if (await boards.index.wasDeleted(jobId)) return undefined;
      throw missingArchive(jobId);
    },
  };
}
