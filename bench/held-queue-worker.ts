import { Worker } from 'bullmq';
import { Redis } from 'ioredis';

/**
 * A worker of BullMQ alone whose jobs never end, in a process of its own; says the ID of each job that it begins.
 * Arguments: Redis' URL, the queue, its prefix, jobs at once, the lock's duration and the stalled check's interval in ms.
 */
const [url = '', queue = '', prefix = '', atOnce, leaseMs] = process.argv.slice(2);
const worker = new Worker(
  queue,
  async (job) => {
    process.send?.({ began: job.id });
    await new Promise(() => {});
  },
  {
    connection: new Redis(url, { maxRetriesPerRequest: null }),
    prefix,
    concurrency: Number(atOnce),
    lockDuration: Number(leaseMs),
    stalledInterval: Number(leaseMs),
    maxStalledCount: 1000,
  },
);
await worker.waitUntilReady();
process.send?.({ ready: true });
