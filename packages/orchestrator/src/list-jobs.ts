import { type Boards, type JobState, withoutAbsent } from '@crewboard/board';
import { CrewboardError, type JobList } from '@crewboard/contracts';
import type { JobViews } from './job-views.ts';
import { isMissing } from './missing.ts';
import type { Scope } from './service.ts';

const PAGE_DEFAULT = 50;

/** A job of a list: its state, or why it can't be read; undefined for one that is gone since. */
type Read = JobState | { unreadable: string } | undefined;

interface ListDependencies {
  boards: Boards;
  views: JobViews['views'];
}

/**
 * Lists the jobs of a scope, the newest first. One whose archive can't be read is named as such: to leave it out would say
 * that it is gone, and to fail would hide all others.
 */
export function createListJobs({ boards, views }: ListDependencies) {
  async function read(jobId: string): Promise<Read> {
    try {
      return await boards.job(jobId);
    } catch (error) {
      if (isMissing(error)) return undefined;
      const isUnreadable = error instanceof CrewboardError && !(await boards.isInRedis(jobId));
      if (!isUnreadable) throw error;
      return { unreadable: error.detail };
    }
  }

  return async (
    scope: Scope,
    { cursor, limit = PAGE_DEFAULT }: { cursor?: string | undefined; limit?: number | undefined },
  ): Promise<JobList> => {
    const found = await boards.index.listed(scope.project, limit + 1, cursor);
    const ids = found.slice(0, limit);
    const reads = await Promise.all(ids.map(async (id) => ({ id, job: await read(id) })));
    const states: JobState[] = [];
    const unreadable: NonNullable<JobList['unreadable']> = [];
    for (const { id, job } of reads) {
      if (job === undefined) continue;
      if ('unreadable' in job) unreadable.push({ id, reason: job.unreadable });
      else states.push(job);
    }
    return withoutAbsent({
      jobs: await views(states),
      unreadable: unreadable.length === 0 ? undefined : unreadable,
      nextCursor: found.length > limit ? ids.at(-1) : undefined,
    });
  };
}
