import type { Boards, Sweep } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';
import type { Drainer } from './drain.ts';
import type { FactsOf } from './job-facts.ts';
import { pause } from './lease.ts';
import { listJob } from './list-job.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';
import { type Delivery, type Queues, queueJobId } from './queues.ts';
import type { Settings } from './settings.ts';

/** A submit that was not flipped by then has crashed. */
const UNFLIPPED_MS = 60_000;
/** Boards that one process sweeps side by side. */
const SWEPT_AT_ONCE = 8;

interface SweepDependencies {
  boards: Boards;
  queues: Queues;
  drainer: Drainer;
  factsOf: FactsOf;
  settings: Settings;
  log: Log;
  metrics: Metrics;
}

/**
 * Looks after all live boards, a round every sweepIntervalMs, in every worker and API process; the script lets only
 * one of them do a board's round. What it mends, and why mending twice is harmless:
 * - outbox entries left by a crash: each is carried out by ID or sets a level;
 * - expired leases, due times: one script each, which looks at the state again;
 * - tasks that wait in the queue too long: the queue job is looked up by its ID and added only when it is absent, and
 *   a second delivery loses the claim;
 * - checks that no runner has, in the same way: a second delivery finds that another runner has them;
 * - submits that crashed before their flip: deleting what is gone deletes nothing;
 * - ended jobs in the live index: removing twice removes once.
 */
export function createSweeper(dependencies: SweepDependencies) {
  const { boards, drainer, factsOf, settings, log, metrics } = dependencies;
  const listed = new Set<string>();

  async function sweepJob(jobId: string): Promise<void> {
    const sweep = await boards.sweep(jobId, {
      intervalMs: settings.sweepIntervalMs,
      leaseMs: settings.leaseMs,
      strikes: settings.infraStrikes,
      staleMs: settings.staleMs,
    });
    // Without a board yet: a submit that is just beginning, or one that ended there.
    if (sweep.kind === 'none' && (await boards.index.liveSince(jobId)) > UNFLIPPED_MS)
      await removeLive(jobId);
    if (sweep.kind !== 'swept') return;
    metrics.boardSwept(sweep.expired);
    if (!sweep.filled) {
      if (sweep.ageMs > UNFLIPPED_MS) await removeUnflipped(jobId);
      return;
    }
    await ensureListed(jobId);
    for (const stale of sweep.stale) await requeue(jobId, stale);
    for (const review of sweep.reviews) await requeue(jobId, review, { work: 'checks' });
    if (sweep.outbox > 0) await drainer.drain(jobId);
    else if (sweep.ended) await removeLive(jobId);
  }

  /** Takes a job off the live list, unless it came to life in that moment: a reopened job, a late flip. */
  async function removeLive(jobId: string): Promise<void> {
    const isFirst = await boards.index.removeLive(jobId);
    const state = await boards.job(jobId).catch(() => undefined);
    if (state === undefined) return;
    if (state.endedAt === 0) await boards.index.addLive(jobId);
    else if (isFirst) metrics.jobEnded(state.status, state.money.wastedUsd);
  }

  /** A submit may crash between its flip and its place in the list of jobs. */
  async function ensureListed(jobId: string): Promise<void> {
    if (listed.has(jobId)) return;
    const { spec, createdAt } = await boards.job(jobId);
    await listJob(boards, jobId, spec.project, createdAt);
    if (listed.size > 10_000) listed.clear();
    listed.add(jobId);
  }

  async function removeUnflipped(jobId: string): Promise<void> {
    if (!(await boards.drop(jobId, UNFLIPPED_MS))) return;
    log.warn({ jobId }, 'a submit was not finished: its board is deleted');
    await removeLive(jobId);
  }

  type Stale = Extract<Sweep, { kind: 'swept' }>['stale'][number];

  async function requeue(
    jobId: string,
    { taskId, attempt, dispatch }: Stale,
    work: Pick<Delivery, 'work'> = {},
  ): Promise<void> {
    const { spec, lead } = await factsOf(jobId);
    const role = taskId === lead ? 'lead' : 'tasks';
    const queue = dependencies.queues[spec.provider][role];
    const id = queueJobId(taskId, dispatch);
    const job = await queue.getJob(id);
    const state = job === undefined ? 'absent' : await job.getState();
    if (['waiting', 'prioritized', 'delayed'].includes(state)) return;
    const data: Delivery = { v: 1, jobId, taskId, attempt, ...work };
    // Taken by a worker that died before its claim: BullMQ would bring it back after a minute, a second job does now.
    const again = state === 'active' ? `${id}-again` : id;
    if (state === 'failed' || state === 'completed') await job?.remove().catch(() => {});
    await queue.add(role, data, { jobId: again });
    metrics.taskRequeued();
    log.info({ jobId, taskId, state }, 'a task that was queued and not taken is queued again');
  }

  return {
    /** One round over all live boards. A board that fails does not keep the others from theirs. */
    async sweepAll(): Promise<void> {
      const waiting = await boards.index.liveJobs();
      const lane = async () => {
        for (let jobId = waiting.shift(); jobId !== undefined; jobId = waiting.shift()) {
          const id = jobId;
          await sweepJob(id).catch((error: unknown) => {
            const code = error instanceof CrewboardError ? error.code : undefined;
            metrics.sweepFailed();
            log.warn(
              { jobId: id, code, err: error },
              'a board could not be swept; the next round tries again',
            );
          });
        }
      };
      await Promise.all(Array.from({ length: SWEPT_AT_ONCE }, lane));
    },

    /** Sweeps until `signal` aborts. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await this.sweepAll().catch((error: unknown) => {
          log.warn({ err: error }, 'no sweep: Redis can not be reached');
        });
        await pause(settings.sweepIntervalMs, signal);
      }
    },
  };
}
