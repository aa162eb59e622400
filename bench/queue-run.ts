import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Boards } from '@crewboard/board';
import { type NewTask, newSecret } from '@crewboard/contracts';
import { composeCore, REDIS_OPTIONS, type Settings } from '@crewboard/orchestrator';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { benchJob } from './support.ts';

/** Tasks that each side has in hand at once. */
export const IN_FLIGHT = 64;
const ADD_AT_ONCE = 1000;
/** Tasks of our job in the queue or in hand: more than the worker has places for, so that the queue never runs dry. */
const MAX_PARALLEL = 512;

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

export const SETTINGS: Settings = {
  prefix: '{bench}',
  leaseMs: 30_000,
  externalLeaseMs: 900_000,
  infraStrikes: 3,
  modelTries: 1,
  modelRetryMs: 0,
  modelIdleMs: 60_000,
  parkMs: 1000,
  coalesceMs: 0,
  retryDelayMs: 1000,
  sweepIntervalMs: 500,
  staleMs: 30_000,
  redisSilenceMs: 10_000,
  concurrency: IN_FLIGHT,
  models: { lead: 'none', worker: 'none' },
  workspaceRoots: [],
  dataDir: join(tmpdir(), 'crewboard-bench'),
  commands: 'off',
  prices: {},
  providers: {},
  retentionMs: 86_400_000,
};

export const connect = (url: string) => new Redis(url, { ...REDIS_OPTIONS, maxRetriesPerRequest: null });

/** Claims and submits at once, as a sub-agent with nothing to do would. */
async function noOp(boards: Boards, jobId: string, taskId: string, attempt: number): Promise<void> {
  const claimed = await boards.claim(jobId, {
    taskId,
    owner: { kind: 'sub-agent', id: 'bench' },
    secret: newSecret(),
    requestId: newSecret(),
    leaseMs: 30_000,
    expectedAttempt: attempt,
  });
  if (claimed === undefined) return;
  const hold = { jobId, taskId, token: claimed.token };
  await boards.submit(hold, 's', claimed.task.version, { summary: 'done', artifacts: [], evidence: [] });
}

/**
 * Runs a job of `tasks` through board, outbox and queue to its end in this process; answers the seconds from its
 * submission to its last completion.
 */
export async function boardRun(url: string, tasks: readonly NewTask[]): Promise<number> {
  const redis = connect(url);
  const queueConnection = connect(url);
  const workerConnection = connect(url);
  const core = composeCore({ redis, queueConnection, settings: SETTINGS, log: silent });
  const worker = new Worker(
    'crewboard.tasks',
    ({ data }) => noOp(core.boards, data.jobId, data.taskId, data.attempt),
    {
      connection: workerConnection,
      prefix: SETTINGS.prefix,
      concurrency: IN_FLIGHT,
      removeOnComplete: { count: 0 },
    },
  );
  await worker.waitUntilReady();
  const begun = performance.now();
  const jobId = await benchJob(core.boards, tasks, MAX_PARALLEL);
  let seconds = 0;
  for await (const _ of until(async () => (await core.boards.job(jobId)).endedAt > 0)) {
    seconds = (performance.now() - begun) / 1000;
  }
  const { counts } = await core.boards.job(jobId);
  if (counts.completed !== tasks.length) throw new Error(`not all completed: ${JSON.stringify(counts)}`);
  await worker.close();
  await core.close();
  for (const connection of [redis, queueConnection, workerConnection]) connection.disconnect();
  return seconds;
}

const LOOK_MS = 5;

/** Yields after each look until one is true; the last yield is when it is. */
async function* until(isDone: () => Promise<boolean>): AsyncGenerator<void> {
  for (let done = false; !done; ) {
    done = await isDone();
    yield;
    if (!done) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Adds `count` no-op jobs to a queue of BullMQ and works them off; answers the seconds. */
export async function rawRun(url: string, count: number): Promise<number> {
  const connection = connect(url);
  const workerConnection = connect(url);
  const queue = new Queue('raw', {
    connection,
    prefix: '{raw}',
    defaultJobOptions: { removeOnComplete: true },
  });
  let done = 0;
  let tell = () => {};
  const all = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const worker = new Worker('raw', async () => {}, {
    connection: workerConnection,
    prefix: '{raw}',
    concurrency: IN_FLIGHT,
    removeOnComplete: { count: 0 },
  });
  worker.on('completed', () => {
    if (++done === count) tell();
  });
  await worker.waitUntilReady();
  const begun = performance.now();
  for (let from = 0; from < count; from += ADD_AT_ONCE) {
    const size = Math.min(ADD_AT_ONCE, count - from);
    await queue.addBulk(Array.from({ length: size }, (_, i) => ({ name: 'noop', data: { i: from + i } })));
  }
  await all;
  const seconds = (performance.now() - begun) / 1000;
  await worker.close();
  await queue.close();
  connection.disconnect();
  workerConnection.disconnect();
  return seconds;
}
