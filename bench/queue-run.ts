import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Boards } from '@crewboard/board';
import { type NewTask, newSecret } from '@crewboard/contracts';
import { composeCore, REDIS_OPTIONS, type Settings } from '@crewboard/orchestrator';
import { FlowProducer, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { benchJob } from './support.ts';

/** Tasks that each side has in hand at once. */
export const IN_FLIGHT = 64;
const ADD_AT_ONCE = 1000;
/** Tasks of our job in the queue or in hand: more than the worker has places for, so that the queue never runs dry. */
export const MAX_PARALLEL = 512;

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
  secrets: [],
};

export const connect = (url: string) => new Redis(url, { ...REDIS_OPTIONS, maxRetriesPerRequest: null });

/** Ends a run: first who works, then what it works with, then the connections below. */
export async function closeAll(
  parts: readonly { close(): Promise<void> }[],
  connections: readonly Redis[],
): Promise<void> {
  for (const part of parts) await part.close();
  for (const connection of connections) connection.disconnect();
}

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

/** Boards, their outbox and a worker that does nothing, all in this process. */
export interface BoardQueue {
  redis: Redis;
  boards: Boards;
  /** Resolves when the job has ended; throws when not all of its `count` tasks are completed. */
  ended(jobId: string, count: number): Promise<void>;
  close(): Promise<void>;
}

export async function openBoardQueue(url: string): Promise<BoardQueue> {
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
  return {
    redis,
    boards: core.boards,
    async ended(jobId, count) {
      await until(async () => (await core.boards.job(jobId)).endedAt > 0);
      const { counts } = await core.boards.job(jobId);
      if (counts.completed !== count) throw new Error(`not all completed: ${JSON.stringify(counts)}`);
    },
    close: () => closeAll([worker, core], [redis, queueConnection, workerConnection]),
  };
}

/**
 * Runs a job of `tasks` through board, outbox and queue to its end in this process; answers the seconds from its
 * submission to its last completion.
 */
export async function boardRun(url: string, tasks: readonly NewTask[]): Promise<number> {
  const { boards, ended, close } = await openBoardQueue(url);
  const begun = performance.now();
  await ended(await benchJob(boards, tasks, MAX_PARALLEL), tasks.length);
  const seconds = (performance.now() - begun) / 1000;
  await close();
  return seconds;
}

const LOOK_MS = 5;

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
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
  await closeAll([worker, queue], [connection, workerConnection]);
  return seconds;
}

/** The same as a flow: `count` no-op children, and a parent that runs when all are done; answers the seconds. */
export async function flowRun(url: string, count: number): Promise<number> {
  const connection = connect(url);
  const workerConnection = connect(url);
  const flows = new FlowProducer({ connection, prefix: '{flow}' });
  const worker = new Worker('flow', async () => {}, {
    connection: workerConnection,
    prefix: '{flow}',
    concurrency: IN_FLIGHT,
    removeOnComplete: { count: 0 },
  });
  const parent = new Promise<void>((resolve) => {
    worker.on('completed', ({ name }) => {
      if (name === 'parent') resolve();
    });
  });
  await worker.waitUntilReady();
  const begun = performance.now();
  await flows.add({
    name: 'parent',
    queueName: 'flow',
    opts: { removeOnComplete: true },
    children: Array.from({ length: count }, (_, i) => ({
      name: 'noop',
      queueName: 'flow',
      data: { i },
      opts: { removeOnComplete: true },
    })),
  });
  await parent;
  const seconds = (performance.now() - begun) / 1000;
  await closeAll([worker, flows], [connection, workerConnection]);
  return seconds;
}
