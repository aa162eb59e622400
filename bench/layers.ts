import { Queue, Worker } from 'bullmq';
import { startTestRedis } from '../test/support/redis-server.ts';
import { boardRun, closeAll, connect, IN_FLIGHT } from './queue-run.ts';
import { median, report } from './support.ts';

/**
 * A layered graph of no-op tasks, each behind two of the layer before, over BullMQ alone that is driven in the same
 * shape by a program that keeps the graph in memory (and would lose it); alternating rounds.
 */
const LAYER = 100;
const ROUNDS = Number(process.argv[3] ?? 5);
const counts = process.argv[2] === undefined ? [1000, 10_000] : [Number(process.argv[2])];

/** The places of the tasks that task `i` depends on. */
function parentsOf(i: number): number[] {
  if (i < LAYER) return [];
  const from = (Math.floor(i / LAYER) - 1) * LAYER;
  return [from + (i % LAYER), from + ((i + 1) % LAYER)];
}

/** Works the graph off with a queue alone: a job is added when both before it are done. */
async function drivenRun(url: string, count: number): Promise<number> {
  const connection = connect(url);
  const workerConnection = connect(url);
  const queue = new Queue('driven', {
    connection,
    prefix: '{raw}',
    defaultJobOptions: { removeOnComplete: true },
  });
  const left = Array.from({ length: count }, (_, i) => parentsOf(i).length);
  const children = Array.from({ length: count }, (): number[] => []);
  for (let i = 0; i < count; i++) for (const parent of parentsOf(i)) children[parent]?.push(i);
  const add = (ready: number[]) => queue.addBulk(ready.map((i) => ({ name: 'noop', data: { i } })));
  let done = 0;
  const worker = new Worker('driven', async () => {}, {
    connection: workerConnection,
    prefix: '{raw}',
    concurrency: IN_FLIGHT,
    removeOnComplete: { count: 0 },
  });
  await worker.waitUntilReady();
  const begun = performance.now();
  await new Promise<void>((resolve, reject) => {
    worker.on('completed', ({ data }) => {
      const ready: number[] = [];
      for (const child of children[data.i] ?? []) {
        left[child] = (left[child] ?? 0) - 1;
        if (left[child] === 0) ready.push(child);
      }
      if (ready.length > 0) add(ready).catch(reject);
      if (++done === count) resolve();
    });
    add(Array.from({ length: Math.min(LAYER, count) }, (_, i) => i)).catch(reject);
  });
  const seconds = (performance.now() - begun) / 1000;
  await closeAll([worker, queue], [connection, workerConnection]);
  return seconds;
}

const server = await startTestRedis();
await drivenRun(server.url, 1000);
for (const count of counts) {
  const tasks = Array.from({ length: count }, (_, i) => ({
    key: `k${i}`,
    title: `Task ${i}`,
    dependsOn: parentsOf(i).map((parent) => `k${parent}`),
  }));
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await boardRun(server.url, tasks);
    ratios.push(ours / (await drivenRun(server.url, count)));
  }
  report(`layers of ${count} no-op tasks over BullMQ driven alike`, median(ratios), '<= 1.4', ratios);
}
await server.stop();
