import { type JobState, withoutAbsent } from '@crewboard/board';
import { isoTime, type Job, type JobLinks, type JobPlan, type Spend } from '@crewboard/contracts';

/** Where a job is found below the API's root. */
export function linksOf(jobId: string): JobLinks {
  const self = `/v1/jobs/${jobId}`;
  return { self, tasks: `${self}/tasks`, events: `${self}/events`, result: `${self}/result` };
}

/** What a job has spent. Prices come with budgets; until then money stands at zero and tokens are true. */
export function spendOf(state: JobState): Spend {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = state.usage;
  return {
    settledUsd: 0,
    estimatedUsd: 0,
    reservedUsd: 0,
    wastedUsd: 0,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function reasonOf(state: JobState, people: string | undefined): string | undefined {
  if (state.cancelling && state.endedAt === 0) return `cancelling: ${state.reason}`;
  return state.reason === '' ? people : state.reason;
}

/** The public job of one consistent read; `people`: why it waits for them, `plan`: the one that does. */
export function jobView(state: JobState, people?: string, plan?: JobPlan): Job {
  const { spec } = state;
  return withoutAbsent({
    id: spec.id,
    project: spec.project,
    title: spec.title,
    goal: spec.goal,
    status: state.status,
    statusReason: reasonOf(state, people),
    pauses: state.pauses,
    version: state.version,
    counts: state.counts,
    spend: spendOf(state),
    limits: spec.limits,
    simulated: spec.provider === 'simulated',
    plan,
    createdAt: isoTime(state.createdAt),
    startedAt: state.startedAt > 0 ? isoTime(state.startedAt) : undefined,
    endedAt: state.endedAt > 0 ? isoTime(state.endedAt) : undefined,
    links: linksOf(spec.id),
  });
}
