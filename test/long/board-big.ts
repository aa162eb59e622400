import type { Boards } from '@crewboard/board';
import type { NewTask } from '@crewboard/contracts';
import type { Redis } from 'ioredis';
import { BENCH, benchJob, idsOf, inLanes, openBench, work } from '../../bench/support.ts';

/**
 * Big boards, on a real Redis: a chain, one task with many dependents, a layered graph, a job that is cancelled.
 * Each must end with the right counts, and no script but a batch add may take longer than 50 ms (SLOWLOG).
 * Arguments: tasks of the graphs (10000), tasks of the cancelled job (100000).
 */
const GRAPH = Number(process.argv[2] ?? 10_000);
const CANCELLED = Number(process.argv[3] ?? 100_000);
const SLOW_US = 50_000;

const bench = await openBench();
const { boards, redis } = bench;
await redis.config('SET', 'slowlog-log-slower-than', '1000');
await redis.config('SET', 'slowlog-max-len', '100000');

/** Carries out what the board hands on; answers the tasks that it would have queued. */
async function drain(store: Boards, jobId: string): Promise<string[]> {
  const queued: string[] = [];
  for (;;) {
    const entries = await store.readOutbox(jobId, 500);
    if (entries.length === 0) return queued;
    for (const entry of entries) {
      if (entry.kind === 'enqueue') queued.push(entry.taskId);
      else await store.carryOut(jobId, entry);
    }
    await store.removeFromOutbox(
      jobId,
      entries.map(({ id }) => id),
    );
  }
}

/** Works until nothing is queued any more. */
async function workAll(jobId: string): Promise<void> {
  for (let queued = await drain(boards, jobId); queued.length > 0; queued = await drain(boards, jobId)) {
    await inLanes(0, queued.length, 16, (i) => work(boards, jobId, queued[i] ?? ''));
  }
}

async function slowest(client: Redis): Promise<string> {
  const entries: unknown[] = await client
    .call('SLOWLOG', ['GET', '100000'])
    .then((list) => (Array.isArray(list) ? list : []));
  await client.call('SLOWLOG', ['RESET']);
  const times = entries.map((entry) => {
    const [, , us, args] = Array.isArray(entry) ? entry : [];
    const isAdd = Array.isArray(args) && args.some((arg) => String(arg).includes('(')) && args.length > 30;
    return { us: Number(us), isAdd, command: Array.isArray(args) ? String(args[0]) : '' };
  });
  const worst = (list: typeof times) => Math.max(0, ...list.map(({ us }) => us));
  const scripts = times.filter(({ command }) => /^eval/i.test(command));
  const over = scripts.filter(({ us, isAdd }) => us > SLOW_US && !isAdd).length;
  return `longest script ${(worst(scripts) / 1000).toFixed(1)} ms, over 50 ms (adds apart): ${over}`;
}

async function check(what: string, tasks: readonly NewTask[]): Promise<void> {
  const startedAt = performance.now();
  const jobId = await benchJob(boards, tasks, 64);
  const stagedAt = performance.now();
  const adds = await slowest(redis);
  await workAll(jobId);
  const { status, counts } = await boards.job(jobId);
  const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1);
  process.stdout.write(
    `${what}: ${status}, ${counts.completed} of ${counts.total} completed in ${seconds(stagedAt)} s (added in ${((stagedAt - startedAt) / 1000).toFixed(1)} s; ${adds}); ${await slowest(redis)}\n`,
  );
  if (status !== 'succeeded' || counts.completed !== tasks.length) process.exitCode = 1;
}

const named = (i: number, dependsOn: string[]): NewTask => ({ key: `k${i}`, title: `Task ${i}`, dependsOn });
const WIDTH = 100;
await check(
  `chain of ${GRAPH}`,
  Array.from({ length: GRAPH }, (_, i) => named(i, i === 0 ? [] : [`k${i - 1}`])),
);
await check(
  `one task with ${GRAPH} dependents`,
  Array.from({ length: GRAPH + 1 }, (_, i) => named(i, i === 0 ? [] : ['k0'])),
);
await check(
  `layered graph of ${GRAPH}, ${WIDTH} wide, 3 dependencies a task`,
  Array.from({ length: GRAPH }, (_, i) => {
    const layer = Math.floor(i / WIDTH) - 1;
    const above = layer < 0 ? [] : [0, 1, 2].map((n) => `k${layer * WIDTH + ((i + n * 7) % WIDTH)}`);
    return named(i, above);
  }),
);

const startedAt = performance.now();
const jobId = await benchJob(
  boards,
  Array.from({ length: CANCELLED }, (_, i) => named(i, i % 10 === 0 ? [] : [`k${i - (i % 10)}`])),
  64,
);
const ids = await idsOf(redis, boards, jobId);
await slowest(redis);
const cancelledAt = performance.now();
await boards.cancelJob(jobId, `${BENCH.kind}:${BENCH.id}`, 'enough');
await drain(boards, jobId);
const { status, counts } = await boards.job(jobId);
process.stdout.write(
  `cancel of ${ids.length} tasks: ${status}, ${counts.cancelled} cancelled in ${((performance.now() - cancelledAt) / 1000).toFixed(1)} s (added in ${((cancelledAt - startedAt) / 1000).toFixed(1)} s); ${await slowest(redis)}\n`,
);
if (status !== 'cancelled' || counts.cancelled !== CANCELLED) process.exitCode = 1;
await bench.close();
