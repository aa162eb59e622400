import { readFileSync } from 'node:fs';
import { JobList, TaskList } from '@crewboard/contracts';
import { openOwnRedis } from '../test/support/own-redis.ts';
import { API_KEY, openStack } from '../test/support/stack.ts';
import { megabytes } from './memory.ts';
import { inLanes, median, report } from './support.ts';

/**
 * 200 submits at once beside 2,000 list calls in 50 lanes, on an API process of its own that also serves a board of
 * 10,000 tasks: how long a call takes for its caller, this process, which is part of the figure. A call that is refused
 * or fails ends the run. `npm run bench:api`; argument: rounds (5)
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const TASKS = 10_000;
const GROUPS = 10;
const HELD = 100;
const SUBMITS = 200;
const LISTS = 2000;
const LANES = 50;
const SAMPLE_MS = 20;

await using stack = await openStack({ store: await openOwnRedis('api-load') });

async function call(path: string, body?: object): Promise<{ json: unknown; ms: number }> {
  const startedAt = performance.now();
  const answer = await fetch(`${stack.url}${path}`, {
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const ms = performance.now() - startedAt;
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return { json: JSON.parse(text), ms };
}

const outside = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    title: `Task ${i}`,
    executor: 'external' as const,
    labels: [`group-${i % GROUPS}`],
  }));

/** The large board, some of its tasks held, so that every filter finds something. */
async function largeBoard(): Promise<string> {
  const { id } = await stack.client.jobs.submit({ tasks: outside(TASKS) });
  await inLanes(0, HELD, 10, () => stack.client.tasks.claim(id, { owner: 'bench', leaseMs: 3_600_000 }));
  return id;
}

const jobId = await largeBoard();
const tasksPath = `/v1/jobs/${jobId}/tasks`;

/** The next list call: the kinds take turns, and the first goes on through the pages of the whole board. */
function createLists() {
  let next = '';
  const kinds: (() => Promise<number>)[] = [
    async () => {
      const { json, ms } = await call(`${tasksPath}?limit=100${next}`);
      const { nextCursor } = TaskList.parse(json);
      next = nextCursor === undefined ? '' : `&cursor=${nextCursor}`;
      return ms;
    },
    ...[
      'status=in_progress',
      'readiness=ready&limit=100',
      'label=group-3',
      'label=group-3&status=pending',
    ].map((filter) => async () => {
      const { json, ms } = await call(`${tasksPath}?${filter}`);
      if (TaskList.parse(json).tasks.length === 0) throw new Error(`${filter} found nothing`);
      return ms;
    }),
    async () => {
      const { json, ms } = await call('/v1/jobs?limit=100');
      JobList.parse(json);
      return ms;
    },
  ];
  return (i: number) => kinds[i % kinds.length]?.() ?? Promise.resolve(0);
}

const rssOf = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

interface Round {
  submits: number[];
  lists: number[];
}

async function round(): Promise<Round> {
  const list = createLists();
  const lists: number[] = [];
  const submitted = Promise.all(
    Array.from({ length: SUBMITS }, async () => (await call('/v1/jobs', { tasks: outside(2) })).ms),
  );
  await inLanes(0, LISTS, LANES, async (i) => lists.push(await list(i)));
  return { submits: await submitted, lists };
}

const shareOf = (times: readonly number[], share: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;

const before = rssOf(stack.api.pid);
let peak = before;
const sampling = setInterval(() => {
  peak = Math.max(peak, rssOf(stack.api.pid));
}, SAMPLE_MS);
const rounds: Round[] = [];
const afterEach: number[] = [];
for (let i = 0; i < ROUNDS; i++) {
  rounds.push(await round());
  afterEach.push(rssOf(stack.api.pid));
}
clearInterval(sampling);

for (const what of ['submits', 'lists'] as const) {
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['max', 1],
  ] as const) {
    const each = rounds.map((times) => shareOf(times[what], share));
    report(`ms of ${what}: ${name}`, median(each), 'none', each);
  }
}
process.stdout.write(
  `API, resident set: ${megabytes(before)} before, ${megabytes(peak)} at most, after each round ${afterEach.map(megabytes).join(', ')}; no error\n`,
);
