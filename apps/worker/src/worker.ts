import { hostname } from 'node:os';
import type { RedisClient } from '@crewboard/board';
import {
  announceWorker,
  composeCore,
  createGovernor,
  createJobTools,
  createProcessMetrics,
  type DeliverDependencies,
  followCancels,
  followPauses,
  type Log,
  measuredCalls,
  modelCalls,
  providersOf,
  publishMetrics,
  type Settings,
  servedQueues,
  startQueueWorkers,
  warnAtStart,
  workerName,
} from '@crewboard/orchestrator';
import type { Redis } from 'ioredis';
import { watchWorker } from './watch-worker.ts';

/** Connections of a worker process; the caller opens and closes them. */
export interface WorkerConnections {
  /** For boards: waits while Redis is away, for the fence is what stops an attempt. */
  boards: RedisClient;
  /** For queues, shared; BullMQ makes blocking ones of its own from it. */
  queues: Redis;
  /** For news of cancels and pauses alone. */
  subscriber: Redis;
}

/** Attempts get this long to end after a shutdown was asked for; then the process may go. */
const CLOSE_GRACE_MS = 8000;

/**
 * Runs the processors and the sweeper of one worker process over open connections. `stop` claims nothing more, aborts
 * and releases what runs, and ends within the grace period.
 */
export async function startWorker(
  settings: Settings,
  connections: WorkerConnections,
  log: Log,
): Promise<{ stop(): Promise<void> }> {
  const { metrics, registry } = createProcessMetrics();
  const core = composeCore({
    redis: connections.boards,
    queueConnection: connections.queues,
    settings,
    log,
    metrics,
  });
  const shutdown = new AbortController();
  const running: DeliverDependencies['running'] = new Map();
  const governor = createGovernor({
    redis: connections.boards,
    boards: core.boards,
    settings,
    callModelOf: measuredCalls(modelCalls(settings), metrics),
    log,
  });
  const governing = governor.run(shutdown.signal);
  const workTools = createJobTools(settings);
  const workerId = workerName(hostname(), process.pid);
  await followCancels(connections.subscriber, settings.prefix, (jobId, taskId) => {
    for (const { hold, lease } of running.get(jobId) ?? []) {
      if (taskId === undefined || taskId === hold.taskId) lease.stop('cancelled');
    }
  });
  await followPauses(connections.subscriber, settings.prefix, (jobId) => {
    for (const { lease } of running.get(jobId) ?? []) lease.pause();
  });
  const providers = providersOf(settings);
  const workers = startQueueWorkers(
    {
      boards: core.boards,
      artifacts: core.artifacts,
      settings,
      log,
      metrics,
      running,
      shutdown: shutdown.signal,
      factsOf: core.factsOf,
      governor,
      workTools,
      workerId,
    },
    providers,
    () => connections.queues,
  );
  const watch = watchWorker(connections, workers, { silenceMs: settings.redisSilenceMs, log });
  const served = servedQueues(settings, providers).map(({ provider }) => provider);
  const announced = announceWorker(
    connections.boards,
    settings.prefix,
    { id: workerId, providers: [...new Set(served)], hasModels: providers.length > 0, log },
    shutdown.signal,
  );
  const counting = new AbortController();
  const published = publishMetrics(
    { redis: connections.boards, prefix: settings.prefix, instance: `worker-${workerId}`, registry, log },
    counting.signal,
  );
  void warnAtStart({ settings, redis: connections.boards, log }, 'worker');
  log.info({ workerId, providers, commands: settings.commands }, 'worker started');
  return {
    async stop() {
      shutdown.abort(new Error('the worker is shutting down'));
      watch.close();
      const closed = Promise.all([announced, governing, ...workers.map((worker) => worker.close())])
        .then(() => governor.close())
        .then(() => workTools.idle())
        .then(() => counting.abort())
        .then(() => published)
        .then(() => core.close());
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_GRACE_MS).unref());
      await Promise.race([closed, late]);
      counting.abort();
    },
  };
}
