import { type Boards, type JobState, type OutboxEntry, withoutAbsent } from '@crewboard/board';
import { READINESS_STATES, TASK_STATUSES } from '@crewboard/contracts';
import type { Queue } from 'bullmq';
import { type Family, gauge } from './families.ts';

/** Live jobs that one look reads; the oldest first. */
const JOBS_MOST = 500;
const READ_AT_ONCE = 8;
/** Scrapes that come closer together share one look. */
const FRESH_MS = 2000;

const QUEUE_STATES = ['waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'] as const;
const SPEND_KINDS = {
  settled: 'settledUsd',
  estimated: 'estimatedUsd',
  reserved: 'reservedUsd',
  wasted: 'wastedUsd',
} as const;

interface StateDependencies {
  boards: Pick<Boards, 'index' | 'job' | 'readOutbox'>;
  queues: readonly Pick<Queue, 'name' | 'getJobCounts'>[];
  /** Redis' clock, in ms. */
  now: () => Promise<number>;
}

/** What one live job says. */
interface Seen {
  state: JobState;
  /** The first of what its board still has to hand on. */
  oldest?: OutboxEntry;
}

/** Adds up numbers by name. */
function sums(names: readonly string[] = []) {
  const byName = new Map<string, number>(names.map((name) => [name, 0]));
  return {
    add: (name: string, by: number) => byName.set(name, (byName.get(name) ?? 0) + by),
    samples: (label: string) => [...byName].map(([name, value]) => ({ value, labels: { [label]: name } })),
  };
}

async function queueDepths(queues: StateDependencies['queues']): Promise<Family> {
  const counted = await Promise.all(
    queues.map(async (queue) => ({ queue: queue.name, counts: await queue.getJobCounts(...QUEUE_STATES) })),
  );
  const values = counted.flatMap(({ queue, counts }) =>
    QUEUE_STATES.map((state) => ({ value: counts[state] ?? 0, labels: { queue, state } })),
  );
  return gauge('queue_jobs', 'Entries of a queue by state; each is one task to be taken.', values);
}

/** Reads live jobs, some at once; one that is gone or can't be read says nothing. */
async function readJobs({ boards }: StateDependencies, jobIds: readonly string[]): Promise<Seen[]> {
  const seen: Seen[] = [];
  const waiting = [...jobIds];
  const lane = async () => {
    for (let jobId = waiting.shift(); jobId !== undefined; jobId = waiting.shift()) {
      const read = Promise.all([boards.job(jobId), boards.readOutbox(jobId, 1)]);
      const found = await read.catch(() => undefined);
      if (found !== undefined) seen.push(withoutAbsent({ state: found[0], oldest: found[1][0] }));
    }
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, lane));
  return seen;
}

function oldestAgeSeconds(seen: readonly Seen[], now: number): number {
  const ages = seen.flatMap(({ oldest }) =>
    oldest === undefined ? [] : [(now - Number(oldest.id.split('-', 1)[0])) / 1000],
  );
  return Math.max(0, ...ages);
}

function jobFamilies(seen: readonly Seen[], live: number, now: number): Family[] {
  const jobs = sums();
  const tasks = sums(TASK_STATUSES);
  const pending = sums(READINESS_STATES);
  const spend = sums(Object.keys(SPEND_KINDS));
  for (const { state } of seen) {
    jobs.add(state.status, 1);
    for (const status of TASK_STATUSES) tasks.add(status, state.counts[status]);
    for (const readiness of READINESS_STATES) pending.add(readiness, state.counts[readiness]);
    for (const [kind, field] of Object.entries(SPEND_KINDS)) spend.add(kind, state.money[field]);
  }
  return [
    gauge('live_jobs', 'Jobs that have not ended, or still have something to hand on.', [
      { value: live, labels: {} },
    ]),
    gauge('live_jobs_read', `Of these, the ones that were looked at (at most ${JOBS_MOST}).`, [
      { value: seen.length, labels: {} },
    ]),
    gauge('jobs', 'Live jobs by status.', jobs.samples('status')),
    gauge('tasks', 'Tasks of live jobs by status.', tasks.samples('status')),
    gauge('pending_tasks', 'Pending tasks of live jobs by readiness.', pending.samples('readiness')),
    gauge('live_jobs_spend_usd', 'What live jobs have cost so far.', spend.samples('kind')),
    gauge('outbox_oldest_age_seconds', 'Age of the oldest hand-over of a live job that is not done.', [
      { value: oldestAgeSeconds(seen, now), labels: {} },
    ]),
  ];
}

/**
 * Reads what stands in Redis: queues, live jobs with their tasks and spend, what is still to be handed on. Its work is
 * bounded, and looks that come soon after each other are one. Rejects when Redis can't be read.
 */
export function sharedState(dependencies: StateDependencies): () => Promise<Family[]> {
  let last: { at: number; families: Promise<Family[]> } | undefined;

  async function look(): Promise<Family[]> {
    const { boards, queues, now } = dependencies;
    const [depths, live] = await Promise.all([queueDepths(queues), boards.index.liveJobs()]);
    const seen = await readJobs(dependencies, live.slice(0, JOBS_MOST));
    return [depths, ...jobFamilies(seen, live.length, await now())];
  }

  return () => {
    if (last === undefined || performance.now() - last.at >= FRESH_MS) {
      const families = look();
      last = { at: performance.now(), families };
      // The next scrape after a failure looks again.
      families.catch(() => {
        last = undefined;
      });
    }
    return last.families;
  };
}
