import type { JobState } from '@crewboard/board';
import type { Job } from '@crewboard/contracts';
import { jobView, waitsForWorker } from './job-view.ts';
import type { Provider } from './settings.ts';
import type { IsServed } from './worker-registry.ts';

/** Makes public jobs of their states; whether a worker is there is asked only where it matters. */
export function jobViews(isServed: IsServed) {
  const viewBy = (ask: IsServed) => async (state: JobState) =>
    jobView(state, !waitsForWorker(state) || (await ask(state.spec.provider)));
  return {
    view: viewBy(isServed),
    /** Asks once a provider. */
    views(states: readonly JobState[]): Promise<Job[]> {
      const asked = new Map<Provider, Promise<boolean>>();
      const askOnce: IsServed = (provider) => {
        const answer = asked.get(provider) ?? isServed(provider);
        asked.set(provider, answer);
        return answer;
      };
      return Promise.all(states.map(viewBy(askOnce)));
    },
  };
}
