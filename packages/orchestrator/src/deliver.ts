import { CrewboardError, newSecret } from '@crewboard/contracts';
import type { ArtifactStore } from '@crewboard/tools';
import { type AttemptDependencies, type RunAgentOnce, type RunningAttempt, runAttempt } from './attempt.ts';
import { createCheckRunner } from './checks/check-runner.ts';
import { runReview } from './checks/review-runner.ts';
import { createSchemaCompiler } from './checks/schema-compiler.ts';
import { needsCommands, prepareGivingBack } from './command/give-back.ts';
import { prepareCommand } from './command/run-command-task.ts';
import type { FactsOf, JobFacts } from './job-facts.ts';
import { prepareLead } from './lead/run-lead.ts';
import type { Governor } from './provider/governor.ts';
import type { Delivery } from './queues.ts';
import { type AgentDependencies, prepareSubAgent } from './sub-agent/run-sub-agent.ts';
import type { WorkTools } from './work-tools.ts';

export interface DeliverDependencies extends AttemptDependencies {
  factsOf: FactsOf;
  artifacts: ArtifactStore;
  governor: Pick<Governor, 'callsOf'>;
  workTools: WorkTools;
  /** Names this worker as an owner. */
  workerId: string;
}

/** `elsewhere`: not claimed, because only a worker with the job's model can do it. */
export type Delivered = 'over' | 'elsewhere';

type Checking = Pick<AgentDependencies, 'checks' | 'schemas'>;

/** Chooses what runs a claimed task, and prepares it. */
async function prepare(
  { boards, artifacts, settings, log, workTools }: DeliverDependencies,
  facts: JobFacts,
  attempt: RunningAttempt,
  checking: Checking,
): Promise<RunAgentOnce> {
  const { task } = attempt.claimed;
  const isLead = task.id === facts.lead;
  if (!isLead && settings.commands === 'off' && needsCommands(facts.spec, task)) {
    return prepareGivingBack(boards, settings.parkMs, attempt);
  }
  if (!isLead && task.executor === 'command') return prepareCommand({ boards, workTools }, facts, attempt);
  const agent = {
    boards,
    artifacts,
    settings,
    log,
    callModel: attempt.calls.call,
    workTools,
    ...checking,
  };
  return isLead ? prepareLead(agent, facts, attempt) : prepareSubAgent(agent, facts, attempt);
}

/**
 * Carries out one delivery of the queue: claims the task by its ID and, if the claim is ours, runs the attempt to its
 * end. A delivery that comes twice, late, or for a task that somebody else holds is dropped: the board decides.
 */
export function createDeliver(dependencies: DeliverDependencies): (delivery: Delivery) => Promise<Delivered> {
  const { boards, settings, log, factsOf, governor, workTools, workerId } = dependencies;
  const schemas = createSchemaCompiler();
  const checking = { schemas, checks: createCheckRunner(schemas, workTools.runnerOf) };

  /** A worker without the job's model runs its commands, and leaves the rest to others. */
  async function isForOthers({ jobId, taskId }: Delivery, { spec, lead }: JobFacts): Promise<boolean> {
    if (settings.providers[spec.provider] !== undefined) return false;
    if (taskId === lead) return true;
    const [task] = await boards.readTasks(jobId, [taskId], false);
    return task !== undefined && task.executor !== 'command';
  }

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
    if (facts === undefined) return 'over';
    if (delivery.work === 'checks') {
      return runReview({ ...dependencies, ...checking }, delivery, facts.spec);
    }
    if (await isForOthers(delivery, facts)) return 'elsewhere';
    const isLead = taskId === facts.lead;
    const claimSentAt = performance.now();
    const claimed = await claim(delivery, isLead);
    if (claimed === undefined) return 'over';
    const hold = { jobId, taskId, token: claimed.token };
    const calls = governor.callsOf(facts.spec.provider, { jobId, taskId, attempt: claimed.task.attempt });
    await runAttempt(dependencies, claimed, hold, claimSentAt, calls, async (attempt) =>
      // The limits as they were at the claim, or newer.
      prepare(dependencies, await factsOf(jobId, claimed.jobVersion), attempt, checking),
    );
    return 'over';
  };
}
