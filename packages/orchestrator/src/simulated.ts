import type { JobState } from '@crewboard/board';
import type { JobBody, JobSpec } from '@crewboard/contracts';
import { needsModel } from './settings.ts';

/**
 * True when the simulated model has answered for a job, or a lead of it is still to be asked. A job of commands and
 * external tasks alone is what it is, whatever model stands ready beside it.
 */
export function isSimulated({ spec, usage, endedAt, cancelling }: JobState): boolean {
  if (spec.provider !== 'simulated') return false;
  const leadIsToRun = spec.goal !== undefined && endedAt === 0 && !cancelling;
  return usage.modelCalls > 0 || leadIsToRun;
}

/** True when the simulated model would answer for a job that is submitted: its lead, or the agent of a task. */
export function wouldBeSimulated(
  spec: JobSpec,
  { goal, tasks = [] }: Pick<JobBody, 'goal' | 'tasks'>,
): boolean {
  return spec.provider === 'simulated' && (goal !== undefined || needsModel(tasks));
}
