import type { Boards, JobState } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';
import { isMissing } from './missing.ts';
import type { Scope } from './service.ts';

/**
 * The job as `scope` may see it. A foreign one, or one whose submit is not finished, is `not_found`, in the same words as
 * one that never was, also while it can't be read. Errors: `unavailable` for one of `scope` that can't be read.
 */
export async function visibleJob(boards: Boards, scope: Scope, jobId: string): Promise<JobState> {
  const state = await boards.job(jobId).catch(async (error: unknown) => {
    if (isMissing(error)) return undefined;
    if (scope.project === '*' || (await boards.index.isListed(scope.project, jobId))) throw error;
    return undefined;
  });
  const isOwn = scope.project === '*' || scope.project === state?.spec.project;
  if (state !== undefined && isOwn && (state.status !== 'accepting' || state.held)) return state;
  throw new CrewboardError('not_found', `no such job ${jobId}`, {
    next: { call: 'list_jobs' },
  });
}
