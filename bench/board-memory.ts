import { ADD_MOST } from '@crewboard/board';
import type { NewTask } from '@crewboard/contracts';
import { BOARD_KEYS } from '../packages/board/src/keys.ts';
import { megabytes, usedMemory, watchRss } from './memory.ts';
import { BENCH, benchJob, idsOf, inLanes, openBench, work } from './support.ts';

/**
 * What a board of many tasks takes up: Redis' used_memory, by key, after every task was added, claimed and completed,
 * and the growth of this process that filled the board and worked it off.
 * Arguments: tasks (100000), dependencies a task (0).
 */
const TASKS = Number(process.argv[2] ?? 100_000);
const DEPENDENCIES = Number(process.argv[3] ?? 0);
const LANES = 16;
/** Tasks after which the outbox is drained. */
const A_STRETCH = 5000;

const bench = await openBench();
const { boards, redis } = bench;
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Takes off the outbox what was handed on, as a worker does: the tasks are worked off in order anyway. */
async function drain(jobId: string): Promise<void> {
  for (;;) {
    const entries = await boards.readOutbox(jobId, 1000);
    if (entries.length === 0) return;
    await boards.removeFromOutbox(
      jobId,
      entries.map(({ id }) => id),
    );
  }
}

/** A task of the plan; it depends on tasks so far before it that they are over when it is its turn. */
function planned(i: number): NewTask {
  const task = { title: `Task ${i}`, instructions: `Do what is to be done with file ${i}.` };
  if (DEPENDENCIES === 0) return task;
  const before = Array.from({ length: DEPENDENCIES }, (_, n) => i - LANES * 2 - n).filter((on) => on >= 0);
  return { ...task, key: `k${i}`, dependsOn: before.map((on) => `k${on}`) };
}

/** Makes the job as clients do: a plan of this size comes in many requests, for one adds 1,000 tasks at most. */
async function fill(): Promise<string> {
  const batch = (from: number) =>
    Array.from({ length: Math.min(ADD_MOST, TASKS - from) }, (_, i) => planned(from + i));
  const jobId = await benchJob(boards, batch(0), LANES);
  for (let from = ADD_MOST; from < TASKS; from += ADD_MOST)
    await boards.add(jobId, { by: BENCH, maxAttempts: 3, tasks: batch(from) });
  return jobId;
}

async function workOff(jobId: string): Promise<void> {
  const ids = await idsOf(redis, boards, jobId);
  for (let from = 0; from < TASKS; from += A_STRETCH) {
    const to = Math.min(TASKS, from + A_STRETCH);
    await inLanes(from, to, LANES, (i) => work(boards, jobId, ids[i] ?? ''));
    await drain(jobId);
  }
  const { status, counts } = await boards.job(jobId);
  if (status !== 'succeeded' || counts.completed !== TASKS) throw new Error(`the job is ${status}`);
}

async function printKeys(jobId: string): Promise<void> {
  const lines: { key: string; bytes: number }[] = [];
  for (const key of BOARD_KEYS) {
    const bytes = Number(await redis.memory('USAGE', boards.keys.board(jobId, key), 'SAMPLES', 0));
    if (bytes > 0) lines.push({ key, bytes: bytes / TASKS });
  }
  lines.sort((a, b) => b.bytes - a.bytes);
  for (const { key, bytes } of lines)
    print(`  ${key.padEnd(9)} ${bytes.toFixed(1).padStart(6)} bytes a task`);
}

async function measure(): Promise<void> {
  // Connection buffers, the script cache and the code of this process are no part of the board.
  const warm = await benchJob(boards, [{ title: 'Warm up' }], LANES);
  await work(boards, warm, (await idsOf(redis, boards, warm))[0] ?? '');
  const before = { redis: await usedMemory(redis), node: process.memoryUsage.rss() };
  const rss = watchRss();
  const jobId = await fill();
  const filled = { redis: await usedMemory(redis), node: rss.take() };
  await workOff(jobId);
  const after = { redis: await usedMemory(redis), node: rss.take() };
  rss.stop();
  const events = await redis.xlen(boards.keys.board(jobId, 'events'));
  print(
    `Redis, ${TASKS} tasks with ${DEPENDENCIES} dependencies each and ${events} events: +${megabytes(after.redis - before.redis)} (before any was claimed +${megabytes(filled.redis - before.redis)}), target <= ${(170 * TASKS) / 100_000} MB`,
  );
  print(
    `Node, resident: ${megabytes(before.node)} before, +${megabytes(filled.node - before.node)} while it filled the board, +${megabytes(after.node - before.node)} while it worked it off, target <= 120 MB`,
  );
  await printKeys(jobId);
}

try {
  await measure();
} finally {
  await bench.close();
}
