import { ADD_MOST } from '@crewboard/board';
import { startTestRedis } from '../test/support/redis-server.ts';
import { megabytes, usedMemory, watchRss } from './memory.ts';
import { MAX_PARALLEL, openBoardQueue } from './queue-run.ts';
import { BENCH, benchJob } from './support.ts';

/**
 * One job of very many no-op tasks through board, outbox and queue: the time, and what it takes of Redis and of this
 * process, which is client and worker at once. Arguments: tasks (10,000, 30,000 and 100,000).
 */
const counts = process.argv[2] === undefined ? [10_000, 30_000, 100_000] : [Number(process.argv[2])];

const tasksFrom = (from: number, count: number) =>
  Array.from({ length: Math.min(ADD_MOST, count - from) }, (_, i) => ({
    title: `Task ${from + i}`,
    instructions: `Do what is to be done with file ${from + i}.`,
  }));

async function measure(count: number): Promise<void> {
  const server = await startTestRedis();
  const { redis, boards, ended, close } = await openBoardQueue(server.url);
  const before = { redis: await usedMemory(redis), node: process.memoryUsage.rss() };
  const rss = watchRss();
  const begun = performance.now();
  const jobId = await benchJob(boards, tasksFrom(0, count), MAX_PARALLEL);
  for (let from = ADD_MOST; from < count; from += ADD_MOST)
    await boards.add(jobId, { by: BENCH, maxAttempts: 3, tasks: tasksFrom(from, count) });
  await ended(jobId, count);
  const seconds = (performance.now() - begun) / 1000;
  const peak = await usedMemory(redis, 'used_memory_peak');
  const after = await usedMemory(redis);
  const node = rss.take();
  rss.stop();
  process.stdout.write(
    `fan-out of ${count}: ${seconds.toFixed(1)} s, ${Math.round((seconds * 1e6) / count)} us a task; Redis +${megabytes(after - before.redis)} at its end, +${megabytes(peak - before.redis)} at most; Node +${megabytes(node - before.node)} resident\n`,
  );
  await close();
  await server.stop();
}

for (const count of counts) await measure(count);
