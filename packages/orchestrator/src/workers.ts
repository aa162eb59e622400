import { type ConnectionOptions, DelayedError, type Job, WaitingError, Worker } from 'bullmq';
import { failureLog } from './connection-log.ts';
import { createDeliver, type DeliverDependencies } from './deliver.ts';
import { Delivery, queueName, type Role } from './queues.ts';
import type { Provider, Settings } from './settings.ts';

/** Above the longest pause of an event loop; the board's lease brings lost work back, not this lock. */
const LOCK_MS = 30_000;
const STALLED_CHECK_MS = 15_000;
/** A queue job may be found stalled often: whether it still means anything is the board's to say. */
const MAX_STALLED = 100;

/** Leads that one worker runs at once; a lead mostly waits, and parks when it does. */
const LEAD_CONCURRENCY = 8;

/** How long a task that this worker can't do stays away from it, so that another one may take it. */
const ELSEWHERE_MS = 5000;

/** Puts a queue job back for another worker, at no cost. */
async function leaveToOthers(job: Job, token: string | undefined): Promise<never> {
  await job.moveToDelayed(Date.now() + ELSEWHERE_MS, token);
  throw new DelayedError();
}

/** What a process takes from: the queues of its providers; without any, the tasks of jobs that need no model. */
export function servedQueues(
  { commands }: Pick<Settings, 'commands'>,
  providers: readonly Provider[],
): { provider: Provider; role: Role }[] {
  if (providers.length > 0) {
    return providers.flatMap((provider) =>
      (['lead', 'tasks'] satisfies Role[]).map((role) => ({ provider, role })),
    );
  }
  return commands === 'off' ? [] : [{ provider: 'anthropic', role: 'tasks' }];
}

/** The BullMQ workers of this process, one a queue that it can serve. */
export function startQueueWorkers(
  dependencies: DeliverDependencies,
  providers: readonly Provider[],
  connectionOf: () => ConnectionOptions,
): Worker[] {
  const { settings, log } = dependencies;
  const deliver = createDeliver(dependencies);
  const tell = failureLog(log, 'queue connection');
  return servedQueues(settings, providers).map(({ provider, role }) => {
    const worker = new Worker(
      queueName(provider, role),
      async (job, token) => {
        if (dependencies.shutdown.aborted) {
          // Taken in the moment of the shutdown: back to the queue for another worker, at no cost.
          await job.moveToWait(token);
          throw new WaitingError();
        }
        const delivery = Delivery.safeParse(job.data);
        if (delivery.success) {
          if ((await deliver(delivery.data)) === 'elsewhere') await leaveToOthers(job, token);
        } else
          log.error({ queueJob: job.id }, 'a queue job is not one of ours, or of a newer version: dropped');
      },
      {
        connection: connectionOf(),
        prefix: settings.prefix,
        concurrency: role === 'lead' ? LEAD_CONCURRENCY : settings.concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: MAX_STALLED,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
    );
    worker.on('error', tell);
    worker.on('failed', (job, error) =>
      log.warn({ queueJob: job?.id, err: error }, 'a delivery failed; the sweeper sees to it'),
    );
    return worker;
  });
}
