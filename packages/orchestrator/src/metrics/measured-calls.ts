import { type ModelCall, ModelCallError } from '@crewboard/agent';
import type { Provider } from '../settings.ts';
import type { Metrics } from './metrics.ts';

/** The same model calls, each of which is counted and timed when it is over. */
export function measuredCalls(
  callModelOf: (provider: Provider) => ModelCall,
  metrics: Metrics,
): (provider: Provider) => ModelCall {
  return (provider) => {
    const call = callModelOf(provider);
    return async (request, options) => {
      const began = performance.now();
      let outcome = 'ok';
      try {
        return await call(request, options);
      } catch (error) {
        outcome = 'transient';
        if (error instanceof ModelCallError) outcome = error.kind;
        else if (options.signal.aborted) outcome = 'aborted';
        throw error;
      } finally {
        metrics.modelCalled({ model: request.model, outcome, tookMs: performance.now() - began });
      }
    };
  };
}
