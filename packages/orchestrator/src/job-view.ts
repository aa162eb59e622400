import { type JobState, withoutAbsent } from '@crewboard/board';
import { isoTime, type Job, type JobLinks, type Spend } from '@crewboard/contracts';

/** Where a job is found below the API's root. */
export function linksOf(jobId: string): JobLinks {
  const self = `/v1/jobs/${jobId}`;
  return { self, tasks: `${self}/tasks`, events: `${self}/events`, result: `${self}/result` };
}

/** What a job has spent: money by its board's books, tokens by reported usage. */
export function spendOf(state: JobState): Spend {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = state.usage;
  return { ...state.money, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
}

function reasonOf(state: JobState): string | undefined {
  if (state.cancelling && state.endedAt === 0) return `cancelling: ${state.reason}`;
  if (state.reason !== '') return state.reason;
  return state.endedAt === 0 ? state.modelDown : undefined;
}

/** The public job of one consistent read. */
export function jobView(state: JobState): Job {
  const { spec } = state;
  return withoutAbsent({
    id: spec.id,
    project: spec.project,
    title: spec.title,
    goal: spec.goal,
    status: state.status,
    statusReason: reasonOf(state),
    pauses: state.pauses,
    version: state.version,
    counts: state.counts,
    spend: spendOf(state),
    limits: spec.limits,
    simulated: spec.provider === 'simulated',
    createdAt: isoTime(state.createdAt),
    startedAt: state.startedAt > 0 ? isoTime(state.startedAt) : undefined,
    endedAt: state.endedAt > 0 ? isoTime(state.endedAt) : undefined,
    links: linksOf(spec.id),
  });
}
