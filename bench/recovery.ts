import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { Answer } from '../test/support/held-model.ts';
import { startTestRedis } from '../test/support/redis-server.ts';
import { allText, toolUse } from '../test/support/scripted-messages-api.ts';
import { openStack, type Stack } from '../test/support/stack.ts';
import { closeAll } from './queue-run.ts';
import { median, report } from './support.ts';

/**
 * Seconds from the kill (-9) of a worker process in the middle of 20 tasks until another one has begun them all: by the
 * board's events, and until the model has got the first call of each from there. Beside it the same with BullMQ alone,
 * its lock and its stalled check at our lease: until the other worker has begun all 20 jobs. Alternating rounds.
 * `node --conditions=@crewboard/source --import tsx bench/recovery.ts`; argument: rounds (5)
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const LEASES_MS = [1000, 3000];
const RUNNING = 20;
const PREFIX = '{recovery}';

const submit: Answer = (request) => ({
  content: [
    toolUse('board_submit', {
      taskId: /"taskId":"(t_\w{8})"/.exec(allText(request))?.[1] ?? '',
      summary: 'done',
    }),
  ],
  stopReason: 'tool_use',
  usage: { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
});

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1000;

/** Redis' clock in ms; its events carry the same. */
async function clockOf(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

/** When the last task of the job was claimed for the second time, in ms of Redis' clock. */
async function claimedAgainAt({ boards }: Stack, jobId: string): Promise<number> {
  const events = await boards.events(jobId, '0-0', 5000);
  const claims = events.filter(({ type, attempt }) => type === 'task.claimed' && attempt === 2);
  if (claims.length !== RUNNING) throw new Error(`${claims.length} tasks were claimed again`);
  return Math.max(...claims.map(({ id }) => Number.parseInt(id, 10)));
}

/** One kill of a Crewboard worker: seconds until its tasks were claimed again, and until the model was called for each. */
async function ours(stack: Stack): Promise<{ claimed: number; called: number }> {
  const first = stack.model.hold(() => true, RUNNING);
  const victim = await stack.startWorker();
  const { id } = await stack.client.jobs.submit({
    tasks: Array.from({ length: RUNNING }, (_, i) => ({ title: `Task ${i}` })),
    limits: { maxParallel: RUNNING },
  });
  await first.arrived(RUNNING);
  const other = await stack.startWorker();
  const again = stack.model.hold(() => true);
  const killedAtRedis = await clockOf(stack.store.redis);
  const killedAt = performance.now();
  const dead = victim.kill();
  await again.arrived(RUNNING);
  const called = secondsSince(killedAt);
  const claimed = ((await claimedAgainAt(stack, id)) - killedAtRedis) / 1000;
  await dead;
  first.open();
  again.open();
  const { status, counts } = await stack.untilEnded(id);
  const { tasks } = await stack.client.tasks.list(id);
  const isOnceMore = tasks.every(({ attempt }) => attempt === 2);
  if (status !== 'succeeded' || counts.completed !== RUNNING || !isOnceMore)
    throw new Error(`the job is ${status}: ${JSON.stringify(counts)}`);
  await other.kill();
  return { claimed, called };
}

/** A BullMQ worker in its own process. */
async function startQueueWorker(url: string, queue: string, leaseMs: number) {
  const program = fileURLToPath(new URL('./held-queue-worker.ts', import.meta.url));
  const child: ChildProcess = fork(program, [url, queue, PREFIX, String(RUNNING), String(leaseMs)]);
  const began = new Set<unknown>();
  let look = () => {};
  let isReady = false;
  child.on('message', (message: { ready?: unknown; began?: unknown }) => {
    if (message.ready !== undefined) isReady = true;
    if (message.began !== undefined) began.add(message.began);
    look();
  });
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (isTrue()) resolve();
      };
      look();
    });
  await until(() => isReady);
  return { kill: () => child.kill('SIGKILL'), beganAll: () => until(() => began.size >= RUNNING) };
}

/** One kill of a worker of BullMQ alone. */
async function theirs(url: string, leaseMs: number, round: number): Promise<number> {
  const name = `held-${leaseMs}-${round}`;
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue(name, { connection, prefix: PREFIX });
  const victim = await startQueueWorker(url, name, leaseMs);
  await queue.addBulk(Array.from({ length: RUNNING }, (_, i) => ({ name: 'held', data: { i } })));
  await victim.beganAll();
  const other = await startQueueWorker(url, name, leaseMs);
  const killedAt = performance.now();
  victim.kill();
  await other.beganAll();
  const seconds = secondsSince(killedAt);
  other.kill();
  await closeAll([queue], [connection]);
  return seconds;
}

async function measure(url: string, leaseMs: number): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  const store = { redis, url, prefix: PREFIX, [Symbol.asyncDispose]: async () => redis.disconnect() };
  await using stack = await openStack({
    store,
    answer: submit,
    variables: { CREWBOARD_LEASE_MS: String(leaseMs), CREWBOARD_CONCURRENCY: String(RUNNING) },
  });
  const claimed: number[] = [];
  const called: number[] = [];
  const byQueue: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const figures = await ours(stack);
    claimed.push(figures.claimed);
    called.push(figures.called);
    byQueue.push(await theirs(url, leaseMs, round));
  }
  const target = `<= ${((leaseMs * 1.25) / 1000).toFixed(2)} (lease and one heartbeat), the longest`;
  const what = `seconds until another worker has begun all ${RUNNING} tasks of a killed one, lease ${leaseMs} ms`;
  report(what, Math.max(...claimed), target, claimed);
  report('  and until the model was called for each, the longest', Math.max(...called), 'none', called);
  report('  BullMQ alone, lock and stalled check as long, median', median(byQueue), 'none', byQueue);
}

const server = await startTestRedis();
try {
  if (server.kind !== 'server') throw new Error('benchmarks need a redis-server on PATH');
  for (const leaseMs of LEASES_MS) await measure(server.url, leaseMs);
} finally {
  await server.stop();
}
