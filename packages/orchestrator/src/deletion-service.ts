import type { Boards } from '@crewboard/board';
import { CrewboardError, isEnded, type JobStatus } from '@crewboard/contracts';
import type { DeleteJob } from './archive/delete-job.ts';
import type { DeletionCalls, Scope } from './service.ts';
import { visibleJob } from './visible-job.ts';

interface DeletionDependencies {
  boards: Boards;
  deleteJob: DeleteJob;
}

function notEnded(status: JobStatus): CrewboardError {
  return new CrewboardError(
    'invalid_transition',
    `the job is ${status}: only one that has ended can be deleted. Nothing was changed. Cancel it first.`,
    { current: { status }, allowed: ['cancel'], next: { call: 'cancel_job' } },
  );
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof CrewboardError && error.code === 'unavailable';

/** How people delete jobs; see DeletionCalls. */
export function deletionService({ boards, deleteJob }: DeletionDependencies): DeletionCalls {
  /**
   * The project of a job that is there, or whose deletion was cut short. Of one whose archive is missing or damaged it is
   * the caller's, which may be `*`: what lists by project then keep of it is passed over.
   */
  async function projectOf(scope: Scope, jobId: string): Promise<string> {
    const begun = await boards.index.deletingProject(jobId);
    if (begun !== undefined && (scope.project === '*' || scope.project === begun)) return begun;
    const state = await visibleJob(boards, scope, jobId).catch(async (error: unknown) => {
      if (!isUnavailable(error) || (await boards.isInRedis(jobId))) throw error;
      return undefined;
    });
    // Only what has ended leaves Redis, so one that can't be read there or anywhere has.
    if (state === undefined) return scope.project;
    if (!isEnded(state.status)) throw notEnded(state.status);
    return state.spec.project;
  }

  return {
    async deleteJob(scope, jobId) {
      const project = await projectOf(scope, jobId);
      if (await deleteJob(jobId, project)) return;
      // Opened again in that moment.
      throw notEnded((await visibleJob(boards, scope, jobId)).status);
    },
  };
}
