import {
  type ConnectionWatch,
  type Log,
  type WatchedConnection,
  watchConnections,
} from '@crewboard/orchestrator';
import type { Worker } from 'bullmq';

/** The longest that BullMQ waits for a job in one command: it comes back at least that often. */
const QUEUE_BLOCK_MS = 10_000;

/** BullMQ makes the connection that `worker` waits for jobs with by itself, and has it once Redis was reached. */
async function addWaiting(watch: ConnectionWatch, worker: Worker, log: Log): Promise<void> {
  try {
    const client = await worker.getBackend().blockingClient;
    if (client === undefined) return;
    const connection = {
      get status() {
        return client.status;
      },
      ping: () => client.runCommand('ping', []),
      disconnect: (reconnect: boolean) => client.disconnect(reconnect),
    };
    watch.add(`waiting at ${worker.name}`, connection, QUEUE_BLOCK_MS);
  } catch (error) {
    log.warn({ err: error, queue: worker.name }, 'the connection of a queue can not be watched');
  }
}

/** Watches every connection of a worker process, also those that BullMQ made. The caller closes the watch. */
export function watchWorker(
  { boards, queues, subscriber }: Record<'boards' | 'queues' | 'subscriber', WatchedConnection>,
  workers: readonly Worker[],
  { silenceMs, log }: { silenceMs: number; log: Log },
): ConnectionWatch {
  const watch = watchConnections({ silenceMs, log });
  watch.add('boards', boards);
  watch.add('queues', queues);
  watch.add('news', subscriber);
  for (const worker of workers) void addWaiting(watch, worker, log);
  return watch;
}
