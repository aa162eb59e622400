import type { Boards, JobState } from '@crewboard/board';
import type { Job, JobPlan } from '@crewboard/contracts';
import { jobView, waitsForWorker } from './job-view.ts';
import { peopleReason } from './people-reason.ts';
import { planWait } from './plan-wait.ts';
import type { Provider } from './settings.ts';
import { jobStandstill } from './standstill.ts';
import type { Served, ServedBy } from './worker-registry.ts';

/** Makes public jobs of their states. */
export interface JobViews {
  /** One job, with the plan that waits for approval. */
  view(state: JobState): Promise<Job>;
  /** As lists show them: without plans; what takes their tasks is asked once a provider. */
  views(states: readonly JobState[]): Promise<Job[]>;
}

/** Makes the views of jobs; what few jobs need is asked only for those. */
export function jobViews(boards: Boards, servedBy: ServedBy): JobViews {
  async function forPeople(
    state: JobState,
  ): Promise<{ people: string | undefined; plan: JobPlan | undefined }> {
    const asksPeople = state.plan === 'proposed' || state.questions > 0;
    const { questions, pending } = asksPeople
      ? await boards.planState(state.spec.id)
      : { questions: [], pending: undefined };
    const waits = state.status === 'awaiting_approval' ? await planWait(boards, state) : undefined;
    return { people: peopleReason(state, { plan: waits, questions }), plan: pending };
  }

  async function view(state: JobState, ask: ServedBy, showsPlan: boolean): Promise<Job> {
    const standstill = waitsForWorker(state)
      ? jobStandstill(await ask(state.spec.provider), state)
      : undefined;
    const { people, plan } = await forPeople(state);
    return jobView(state, { standstill, people, plan: showsPlan ? plan : undefined });
  }

  return {
    view: (state) => view(state, servedBy, true),
    views(states) {
      const asked = new Map<Provider, Promise<Served>>();
      const askOnce: ServedBy = (provider) => {
        const answer = asked.get(provider) ?? servedBy(provider);
        asked.set(provider, answer);
        return answer;
      };
      return Promise.all(states.map((state) => view(state, askOnce, false)));
    },
  };
}
