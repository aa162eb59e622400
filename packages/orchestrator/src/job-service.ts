import type { Boards, JobState } from '@crewboard/board';
import {
  type Actor,
  type Job,
  type JobLimits,
  type JobLimitsPatch,
  JobLimits as JobLimitsSchema,
} from '@crewboard/contracts';
import { modelsOfJob, pricesOf, refuseUnpriced } from './prices.ts';
import type { JobCalls, Scope } from './service.ts';
import type { Settings } from './settings.ts';
import { visibleJob } from './visible-job.ts';

interface JobDependencies {
  boards: Boards;
  settings: Settings;
  /** The public job of a state. */
  view: (state: JobState) => Promise<Job>;
}

const userOf = (scope: Scope): Actor => ({ kind: 'user', id: scope.caller });

/** Limits with the new values of `patch`; null takes one away. */
function patchedLimits(limits: JobLimits, patch: JobLimitsPatch): JobLimits {
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  const patched = Object.entries({ ...limits, ...Object.fromEntries(given) });
  return JobLimitsSchema.parse(Object.fromEntries(patched.filter(([, value]) => value !== null)));
}

/** What people do with a job as a whole; see JobCalls. */
export function jobService({ boards, settings, view }: JobDependencies): JobCalls {
  const viewNow = async (jobId: string) => view(await boards.job(jobId));
  return {
    async pauseJob(scope, jobId, reason = 'paused by a person') {
      await visibleJob(boards, scope, jobId);
      await boards.pauseJob(jobId, userOf(scope), 'user', reason);
      return viewNow(jobId);
    },

    async resumeJob(scope, jobId, reason = '') {
      await visibleJob(boards, scope, jobId);
      await boards.resumeJob(jobId, userOf(scope), '', reason);
      return viewNow(jobId);
    },

    async editJob(scope, jobId, { version, limits: patch }) {
      const { spec } = await visibleJob(boards, scope, jobId);
      const limits = patchedLimits(spec.limits, patch);
      if (patch.budgetUsd !== undefined)
        refuseUnpriced(pricesOf(spec.provider, settings.prices), modelsOfJob(spec, limits));
      await boards.editJob(spec, { by: userOf(scope), version, limits, changed: patch });
      return viewNow(jobId);
    },

    async startJob(scope, jobId) {
      const { held } = await visibleJob(boards, scope, jobId);
      if (held) await boards.flip(jobId, userOf(scope), '');
      return viewNow(jobId);
    },
  };
}
