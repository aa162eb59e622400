import { type JobState, withoutAbsent } from '@crewboard/board';
import { isoTime, type Job, type JobLinks, type JobPlan, type Spend } from '@crewboard/contracts';
import { isSimulated } from './simulated.ts';

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

function reasonOf(
  state: JobState,
  standstill: string | undefined,
  people: string | undefined,
): string | undefined {
  if (state.cancelling && state.endedAt === 0) return `cancelling: ${state.reason}`;
  if (state.reason !== '') return state.reason;
  if (state.endedAt === 0 && state.modelDown !== undefined) return state.modelDown;
  return standstill ?? people;
}

/** True when something of the job can be done now, and only by one of our workers. */
export function waitsForWorker(state: JobState): boolean {
  return state.queued && state.endedAt === 0 && !state.cancelling && state.pauses.length === 0;
}

/** What a job's view needs to know besides its state. */
export interface ViewFacts {
  /** Why nobody takes what of it waits for our workers, if that is so. */
  standstill: string | undefined;
  /** Why it waits for people, if it does. */
  people: string | undefined;
  /** The plan that waits for approval, where the view shows it. */
  plan: JobPlan | undefined;
}

/** The public job of one consistent read. */
export function jobView(state: JobState, { standstill, people, plan }: ViewFacts): Job {
  const { spec } = state;
  return withoutAbsent({
    id: spec.id,
    project: spec.project,
    title: spec.title,
    goal: spec.goal,
    status: state.status,
    statusReason: reasonOf(state, standstill, people),
    pauses: state.pauses,
    version: state.version,
    counts: state.counts,
    spend: spendOf(state),
    limits: spec.limits,
    simulated: isSimulated(state),
    plan,
    createdAt: isoTime(state.createdAt),
    startedAt: state.startedAt > 0 ? isoTime(state.startedAt) : undefined,
    endedAt: state.endedAt > 0 ? isoTime(state.endedAt) : undefined,
    links: linksOf(spec.id),
  });
}
