import { type JobState, withoutAbsent } from '@crewboard/board';
import { isoTime, type Job, type JobLinks, type Spend } from '@crewboard/contracts';

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

/** What a job that can't go on by itself waits for; undefined when that is not people. */
function peopleReason({ counts, movesByItself, status, endedAt }: JobState): string | undefined {
  if (movesByItself || endedAt > 0 || status === 'accepting') return undefined;
  // What agents do is none of these: then it would move by itself.
  const waiting = [
    [counts.blocked, 'blocked'],
    [counts.in_review, 'in review'],
    [counts.ready, 'for people or external holders to claim'],
    [counts.in_progress, 'held by people or external holders'],
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  return waiting.length === 0 ? undefined : `people: ${waiting.join(', ')}`;
}

function reasonOf(state: JobState, served: boolean): string | undefined {
  if (state.cancelling && state.endedAt === 0) return `cancelling: ${state.reason}`;
  if (state.reason !== '') return state.reason;
  if (state.endedAt === 0 && state.modelDown !== undefined) return state.modelDown;
  if (waitsForWorker(state) && !served) return 'provider: no worker';
  return peopleReason(state);
}

/** True when something of the job can be done now, and only by one of our workers. */
export function waitsForWorker(state: JobState): boolean {
  return state.queued && state.endedAt === 0 && !state.cancelling && state.pauses.length === 0;
}

/** The public job of one consistent read. `served`: some worker takes the tasks of its provider. */
export function jobView(state: JobState, served: boolean): Job {
  const { spec } = state;
  return withoutAbsent({
    id: spec.id,
    project: spec.project,
    title: spec.title,
    goal: spec.goal,
    status: state.status,
    statusReason: reasonOf(state, served),
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
