import { type Boards, type Hold, openBoards } from '@crewboard/board';
import {
  type Actor,
  DEFAULT_LIMITS,
  type JobSpec,
  type NewTask,
  newJobId,
  newSecret,
} from '@crewboard/contracts';
import { Redis } from 'ioredis';
import { startTestRedis } from '../test/support/redis-server.ts';

export const BENCH: Actor = { kind: 'user', id: 'bench' };
const NOTHING = { summary: 'done', artifacts: [], evidence: [] };

export interface Bench {
  redis: Redis;
  boards: Boards;
  close(): Promise<void>;
}

/** A real Redis of the benchmark's own, and boards on it. */
export async function openBench(): Promise<Bench> {
  const server = await startTestRedis();
  if (server.kind !== 'server') throw new Error('benchmarks need a redis-server on PATH');
  const redis = new Redis(server.url);
  return {
    redis,
    boards: openBoards(redis, '{bench}'),
    async close() {
      redis.disconnect();
      await server.stop();
    },
  };
}

/** A running job of these tasks without a lead; answers task IDs in plan order. */
export async function benchJob(boards: Boards, tasks: readonly NewTask[], maxParallel: number) {
  const fill = newSecret();
  const spec: JobSpec = {
    v: 1,
    id: newJobId(),
    project: 'default',
    title: 'bench',
    models: { lead: 'none', worker: 'none' },
    limits: { ...DEFAULT_LIMITS, maxParallel, maxTasks: 1_000_000 },
    allowParallelInProgress: true,
    tools: [],
    provider: 'anthropic',
    createdBy: 'bench',
  };
  await boards.create(spec, { coalesceMs: 0, hold: false, fill });
  await boards.stage(spec.id, { tasks, by: BENCH, maxAttempts: 3, fill });
  await boards.flip(spec.id, BENCH, fill);
  return spec.id;
}

/** Task IDs in plan order. */
export async function idsOf(redis: Redis, boards: Boards, jobId: string): Promise<string[]> {
  const order = await redis.get(boards.keys.board(jobId, 'order'));
  return order?.match(/.{10}/g) ?? [];
}

/** Claims a task and submits it: two transitions. */
export async function work(boards: Boards, jobId: string, taskId: string): Promise<void> {
  const owner = { kind: 'sub-agent' as const, id: 'bench' };
  const claimed = await boards.claim(jobId, {
    taskId,
    owner,
    secret: newSecret(),
    requestId: newSecret(),
    leaseMs: 60_000,
  });
  if (claimed === undefined) throw new Error('the task was not dispatched');
  const hold: Hold = { jobId, taskId, token: claimed.token };
  await boards.submit(hold, 's', claimed.task.version, NOTHING);
}

/** Runs `step(i)` for i from `from` to `to`, `lanes` at a time in order; answers the seconds that it took. */
export async function inLanes(
  from: number,
  to: number,
  lanes: number,
  step: (i: number) => Promise<unknown>,
): Promise<number> {
  let next = from;
  const startedAt = performance.now();
  const lane = async () => {
    while (next < to) await step(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return (performance.now() - startedAt) / 1000;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Prints one result line: the figure, its target, and the spread of the rounds. */
export function report(what: string, figure: number, target: string, rounds: readonly number[]): void {
  const spread = rounds.length > 0 ? ` (rounds ${rounds.map((value) => value.toFixed(3)).join(' ')})` : '';
  process.stdout.write(`${what}: ${figure.toFixed(3)}, target ${target}${spread}\n`);
}
