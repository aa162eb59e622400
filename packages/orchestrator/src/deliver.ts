import type { ModelCall } from '@crewboard/agent';
import { CrewboardError, newSecret } from '@crewboard/contracts';
import { type AttemptDependencies, runAttempt } from './attempt.ts';
import type { FactsOf } from './job-facts.ts';
import { prepareLead } from './lead/run-lead.ts';
import type { Delivery } from './queues.ts';
import type { Provider } from './settings.ts';
import { prepareSubAgent } from './sub-agent/run-sub-agent.ts';

export interface DeliverDependencies extends AttemptDependencies {
  factsOf: FactsOf;
  callModelOf: (provider: Provider) => ModelCall;
  /** Names this worker as an owner. */
  workerId: string;
}

/**
 * Carries out one delivery of the queue: claims the task by its ID and, if the claim is ours, runs the attempt to its
 * end. A delivery that comes twice, late, or for a task that somebody else holds is dropped: the board decides.
 */
export function createDeliver(dependencies: DeliverDependencies): (delivery: Delivery) => Promise<void> {
  const { boards, settings, log, factsOf, callModelOf, workerId } = dependencies;

  async function claim({ jobId, taskId, attempt }: Delivery, isLead: boolean) {
    try {
      return await boards.claim(jobId, {
        taskId,
        owner: { kind: isLead ? 'lead' : 'sub-agent', id: workerId },
        secret: newSecret(),
        requestId: newSecret(),
        leaseMs: settings.leaseMs,
        expectedAttempt: attempt,
      });
    } catch (error) {
      if (!(error instanceof CrewboardError) || error.code === 'unavailable') throw error;
      log.debug({ jobId, taskId, code: error.code }, 'the delivery was refused by the board');
      return undefined;
    }
  }

  return async (delivery) => {
    const { jobId, taskId } = delivery;
    const facts = await factsOf(jobId).catch((error: unknown) => {
      if (error instanceof CrewboardError && error.code === 'not_found') return undefined;
      throw error;
    });
    if (facts === undefined) return;
    const isLead = taskId === facts.lead;
    const claimSentAt = performance.now();
    const claimed = await claim(delivery, isLead);
    if (claimed === undefined) return;
    const hold = { jobId, taskId, token: claimed.token };
    const prepare = isLead ? prepareLead : prepareSubAgent;
    const callModel = callModelOf(facts.spec.provider);
    await runAttempt(dependencies, claimed, hold, claimSentAt, async (attempt) =>
      prepare(
        { boards, settings, log, callModel },
        // The limits as they were at the claim, or newer.
        await factsOf(jobId, claimed.jobVersion),
        attempt,
      ),
    );
  };
}
