import type { Boards } from '@crewboard/board';
import type { ArtifactStore } from '@crewboard/tools';
import type { ArchiveStore } from './archive-store.ts';

interface DeleteDependencies {
  /** Boards in Redis alone. */
  boards: Boards;
  archives: ArchiveStore;
  artifacts: ArtifactStore;
}

/** Deletes an ended job for good, or goes on with that; false when it has not ended, and it stays as it is. */
export type DeleteJob = (jobId: string, project: string) => Promise<boolean>;

/**
 * Makes the deletion: first a note that it is to be, then the board, in one step that is refused for a job that is open
 * (from there on there is no way back), then all else. Each step removes what is left, so after a crash at any place
 * the same call, or the sweeper by the note, goes on. Contents lie by job: no other job refers to them.
 */
export function createDeleteJob({ boards, archives, artifacts }: DeleteDependencies): DeleteJob {
  const { index } = boards;
  return async (jobId, project) => {
    await index.beginDeleting(jobId, project);
    if (!(await boards.removeDeleted(jobId))) {
      await index.forgetDeleting(jobId);
      return false;
    }
    await archives.remove(jobId);
    await artifacts.removeJob(jobId);
    await index.removeEnded(jobId);
    await index.unlist(jobId, project);
    await index.removeLive(jobId);
    await index.endDeleting(jobId);
    return true;
  };
}
