import type { Boards } from '@crewboard/board';
import type { NewTask } from '@crewboard/contracts';
import { newSecret } from '@crewboard/contracts';
import type { Redis } from 'ioredis';
import { BENCH, benchJob, idsOf, inLanes, median, openBench, report, work } from './support.ts';

/**
 * How long the longest script of a call holds Redis, by its own SLOWLOG: time in the server, without the network.
 * Each figure is the median over the rounds, with all rounds behind it. Argument: rounds (9).
 */
const ROUNDS = Number(process.argv[2] ?? 9);
/** Edges that one script settles at most, half as many of a lost task (packages/board/src/lua/lib/dependents.lua). */
const SLICE = 500;
const MAX_PARALLEL = 8;

const bench = await openBench();
const { boards, redis } = bench;
// Not 0: then each command within a script would be logged too, which makes it slower.
await redis.config('SET', 'slowlog-log-slower-than', '20');
await redis.config('SET', 'slowlog-max-len', '20000');

/** The longest EVALSHA or EVAL that `call` led to, in ms. */
async function longest(client: Redis, call: () => Promise<unknown>): Promise<number> {
  await client.call('SLOWLOG', ['RESET']);
  await call();
  const entries: unknown = await client.call('SLOWLOG', ['GET', '20000']);
  const times = (Array.isArray(entries) ? entries : []).map((entry) => {
    const [, , us, args] = Array.isArray(entry) ? entry : [];
    return Array.isArray(args) && /^eval/i.test(String(args[0])) ? Number(us) : 0;
  });
  return Math.max(0, ...times) / 1000;
}

interface Case {
  what: string;
  target: string;
  /** Prepares a board and answers the call to be timed. */
  prepare(store: Boards): Promise<() => Promise<unknown>>;
}

const plain = (count: number): NewTask[] =>
  Array.from({ length: count }, (_, i) => ({
    title: `Task ${i}`,
    instructions: `Do what is to be done with file ${i}.`,
  }));
const behind = (count: number): NewTask[] => [
  { key: 'first', title: 'First' },
  ...plain(count).map((task) => ({ ...task, dependsOn: ['first'] })),
];
/** Each task depends on the two before it. */
const chained = (count: number): NewTask[] =>
  plain(count).map((task, i) => ({
    ...task,
    key: `k${i}`,
    dependsOn: [i - 1, i - 2].filter((on) => on >= 0).map((on) => `k${on}`),
  }));

const addTo = (tasks: readonly NewTask[]) => async (store: Boards) => {
  const jobId = await benchJob(store, plain(MAX_PARALLEL), MAX_PARALLEL);
  return () => store.add(jobId, { by: BENCH, maxAttempts: 3, tasks });
};

async function claimOf(store: Boards, jobId: string, taskId: string, leaseMs = 60_000) {
  const owner = { kind: 'sub-agent' as const, id: 'bench' };
  const once = { secret: newSecret(), requestId: newSecret() };
  const claimed = await store.claim(jobId, { taskId, owner, ...once, leaseMs });
  if (claimed === undefined) throw new Error('the task was not dispatched');
  return { hold: { jobId, taskId, token: claimed.token }, version: claimed.task.version };
}

/** The first task's result, with so many dependents behind it; the slices after the first are handed on. */
const settleWith = (dependents: number) => async (store: Boards) => {
  const jobId = await benchJob(store, behind(dependents), MAX_PARALLEL);
  const [first = ''] = await idsOf(redis, store, jobId);
  return async () => {
    await work(store, jobId, first);
    await handOn(store, jobId);
  };
};

/** The first task fails for good: all behind it can't be reached any more. */
const loseWith = (dependents: number) => async (store: Boards) => {
  const jobId = await benchJob(store, behind(dependents), MAX_PARALLEL);
  const [first = ''] = await idsOf(redis, store, jobId);
  const { hold } = await claimOf(store, jobId, first);
  const failure = {
    class: 'model',
    reason: 'no idea',
    retryable: false,
    delayMs: 0,
    infraStrikes: 3,
  } as const;
  return async () => {
    await store.fail(hold, newSecret(), failure);
    await handOn(store, jobId);
  };
};

async function handOn(store: Boards, jobId: string): Promise<void> {
  const entries = await store.readOutbox(jobId, 1000);
  for (const entry of entries) await store.carryOut(jobId, entry);
  if (entries.length === 0) return;
  await store.removeFromOutbox(
    jobId,
    entries.map(({ id }) => id),
  );
  await handOn(store, jobId);
}

/** Waits until the last lease is over by Redis' clock. */
async function untilExpired(leases: string): Promise<void> {
  const [, last] = await redis.zrange(leases, '-1', '-1', 'WITHSCORES');
  for (;;) {
    const [seconds, us] = await redis.time();
    if (Number(seconds) * 1000 + Number(us) / 1000 > Number(last) + 1) return;
  }
}

const CASES: Case[] = [
  { what: 'add of 1,000 tasks', target: '<= 20', prepare: addTo(plain(1000)) },
  { what: 'add of 1,000 tasks with two dependencies each', target: '<= 20', prepare: addTo(chained(1000)) },
  { what: `submit with ${SLICE} dependents`, target: '<= 5', prepare: settleWith(SLICE) },
  { what: 'submit with 5,000 dependents, in slices', target: '<= 5', prepare: settleWith(5000) },
  { what: `failure with ${SLICE} dependents`, target: '<= 5', prepare: loseWith(SLICE) },
  {
    what: 'claim',
    target: '(none)',
    async prepare(store) {
      const jobId = await benchJob(store, plain(1000), MAX_PARALLEL);
      const [first = ''] = await idsOf(redis, store, jobId);
      return () => claimOf(store, jobId, first);
    },
  },
  {
    what: 'submit without dependents',
    target: '(none)',
    async prepare(store) {
      const jobId = await benchJob(store, plain(1000), MAX_PARALLEL);
      const [first = ''] = await idsOf(redis, store, jobId);
      const { hold, version } = await claimOf(store, jobId, first);
      const result = { summary: 'done', artifacts: [], evidence: [] };
      return () => store.submit(hold, newSecret(), version, result);
    },
  },
  {
    what: 'sweep with 200 expired leases',
    target: '(none)',
    async prepare(store) {
      const jobId = await benchJob(store, plain(1000), 200);
      const ids = await idsOf(redis, store, jobId);
      const sweep = { intervalMs: 0, leaseMs: 60_000, strikes: 3, staleMs: 60_000 };
      await store.sweep(jobId, sweep);
      await inLanes(0, 200, 16, (i) => claimOf(store, jobId, ids[i] ?? '', 1));
      await untilExpired(store.keys.board(jobId, 'lease'));
      return async () => {
        await store.sweep(jobId, sweep);
        const left = await redis.zcard(store.keys.board(jobId, 'lease'));
        if (left > 0) throw new Error(`${left} leases were not over`);
      };
    },
  },
  {
    what: 'cancel of a job, a slice of 500 tasks',
    target: '(none)',
    async prepare(store) {
      const jobId = await benchJob(store, plain(2000), MAX_PARALLEL);
      await store.cancelJob(jobId, 'user:bench', 'enough');
      return () => handOn(store, jobId);
    },
  },
];

try {
  for (const { what, target, prepare } of CASES) {
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await longest(redis, await prepare(boards)));
    const [least, most] = [Math.min(...rounds), Math.max(...rounds)].map((ms) => ms.toFixed(2));
    report(`${what}, ms (least ${least}, most ${most})`, median(rounds), target, rounds);
    await redis.flushdb();
  }
} finally {
  await bench.close();
}
