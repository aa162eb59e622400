import type { Boards, JobState } from '@crewboard/board';
import type { Job, JobPlan } from '@crewboard/contracts';
import { jobView, waitsForWorker } from './job-view.ts';
import { peopleReason } from './people-reason.ts';
import { planWait } from './plan-wait.ts';
import type { Provider } from './settings.ts';
import type { IsServed } from './worker-registry.ts';

/** Makes public jobs of their states. */
export interface JobViews {
  /** One job, with the plan that waits for approval. */
  view(state: JobState): Promise<Job>;
  /** As lists show them: without plans; whether a worker is there is asked once a provider. */
  views(states: readonly JobState[]): Promise<Job[]>;
}

/** Makes the views of jobs; what few jobs need is asked only for those. */
export function jobViews(boards: Boards, isServed: IsServed): JobViews {
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

  async function view(state: JobState, ask: IsServed, showsPlan: boolean): Promise<Job> {
    const served = !waitsForWorker(state) || (await ask(state.spec.provider));
    const { people, plan } = await forPeople(state);
    return jobView(state, { served, people, plan: showsPlan ? plan : undefined });
  }

  return {
    view: (state) => view(state, isServed, true),
    views(states) {
      const asked = new Map<Provider, Promise<boolean>>();
      const askOnce: IsServed = (provider) => {
        const answer = asked.get(provider) ?? isServed(provider);
        asked.set(provider, answer);
        return answer;
      };
      return Promise.all(states.map((state) => view(state, askOnce, false)));
    },
  };
}
