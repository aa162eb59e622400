import type { Boards, JobState } from '@crewboard/board';
import type { Job, JobPlan } from '@crewboard/contracts';
import { jobView } from './job-view.ts';
import { isUpToPeople, peopleReason } from './people-reason.ts';

/** Jobs as people see them: the board's state, and what of it waits for people. */
export interface JobViews {
  /** One job, with the plan that waits for approval. */
  get(jobId: string): Promise<Job>;
  /** The same of a state that was read already. */
  whole(state: JobState): Promise<Job>;
  /** As lists show it: without the plan. */
  short(state: JobState): Promise<Job>;
}

/** Makes the views of jobs; what few jobs need is read only for those. */
export function createJobViews(boards: Boards): JobViews {
  async function isLeadWaiting(state: JobState): Promise<boolean> {
    if (state.lead === undefined || !isUpToPeople(state)) return false;
    const [lead] = await boards.readTasks(state.spec.id, [state.lead], false);
    return lead === undefined || lead.readiness?.state === 'waiting' || lead.status === 'failed';
  }

  async function parts(state: JobState): Promise<{ reason: string | undefined; plan: JobPlan | undefined }> {
    const asksPeople = state.plan === 'proposed' || state.questions > 0;
    const { questions, pending } = asksPeople
      ? await boards.planState(state.spec.id)
      : { questions: [], pending: undefined };
    const reason = peopleReason(state, { questions, isLeadWaiting: await isLeadWaiting(state) });
    return { reason, plan: pending };
  }

  async function whole(state: JobState): Promise<Job> {
    const { reason, plan } = await parts(state);
    return jobView(state, reason, plan);
  }

  return {
    whole,
    get: async (jobId) => whole(await boards.job(jobId)),
    short: async (state) => jobView(state, (await parts(state)).reason),
  };
}
