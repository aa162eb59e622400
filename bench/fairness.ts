import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { BoardEvent } from '@crewboard/contracts';
import { ownTask } from '../test/regression/support.ts';
import { openOwnRedis } from '../test/support/own-redis.ts';
import { delay, reply, startScriptedApi, toolUse } from '../test/support/scripted-messages-api.ts';
import { openStack } from '../test/support/stack.ts';
import { median } from './support.ts';

/**
 * Ten large jobs and small ones share an API and two workers: how long tasks wait from their job's submission to their
 * claim. The small job comes when the large ones are long under way, and again when it is over.
 * `npm run bench:fairness -- --tasks 500`
 */
const { values } = parseArgs({ options: { tasks: { type: 'string', default: '500' } } });
const BIG = Number(values.tasks);
const BIG_JOBS = 10;
const SMALL = 5;
const SMALL_JOBS = 3;
const CONCURRENCY = 16;
/** How long the model takes; a task is one call. */
const CALL_MS = 500;
const ALLOWED_MS = 1000;
const EVENTS_AT_ONCE = 5000;

const say = (text: string) => process.stdout.write(`${text}\n`);
const titles = (count: number) => Array.from({ length: count }, (_, i) => ({ title: `Task ${i}` }));
const timeOf = ({ id }: BoardEvent) => Number(id.split('-')[0]);
const p95 = (times: readonly number[]) =>
  [...times].sort((a, b) => a - b)[Math.max(0, Math.ceil(times.length * 0.95) - 1)] ?? 0;
const seconds = (ms: number) => (ms / 1000).toFixed(2).padStart(7);

await using model = await startScriptedApi((request) =>
  delay(CALL_MS, reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'Done.' })])),
);
await using stack = await openStack({
  store: await openOwnRedis('fairness'),
  variables: {
    ANTHROPIC_BASE_URL: model.url,
    CREWBOARD_CONCURRENCY: String(CONCURRENCY),
    CREWBOARD_LEASE_MS: '30000',
  },
});
await Promise.all([stack.startWorker(), stack.startWorker()]);

/** What a job's log says of its tasks, in ms; of one that is over. */
interface Waiting {
  /** From the job's submission to each claim. */
  waits: number[];
  /** From claim to completion. */
  took: number[];
  /** From its submission to its last completion. */
  wholeMs: number;
}

async function eventsOf(jobId: string): Promise<BoardEvent[]> {
  const all: BoardEvent[] = [];
  for (let after = '0-0'; ; ) {
    const page = await stack.boards.events(jobId, after, EVENTS_AT_ONCE);
    all.push(...page);
    if (page.length < EVENTS_AT_ONCE) return all;
    after = page.at(-1)?.id ?? after;
  }
}

async function waitingOf(jobId: string): Promise<Waiting> {
  const events = await eventsOf(jobId);
  const of = (type: BoardEvent['type']) => events.filter((event) => event.type === type);
  const submittedAt = Math.min(...of('job.submitted').map(timeOf));
  const claimedAt = new Map(of('task.claimed').map((event) => [event.taskId, timeOf(event)]));
  const completed = of('task.completed');
  return {
    waits: [...claimedAt.values()].map((at) => at - submittedAt),
    took: completed.map((event) => timeOf(event) - (claimedAt.get(event.taskId) ?? 0)),
    wholeMs: Math.max(...completed.map(timeOf)) - submittedAt,
  };
}

function tell(name: string, { waits, took, wholeMs }: Waiting): void {
  const first = Math.min(...waits);
  say(
    `${name.padEnd(14)} ${String(waits.length).padStart(5)} ${[first, median(waits), p95(waits), median(took), wholeMs].map(seconds).join('   ')}`,
  );
}

say(
  `load ${loadavg()
    .map((each) => each.toFixed(1))
    .join(' ')} at the start`,
);
const big: string[] = [];
for (let i = 0; i < BIG_JOBS; i++) big.push((await stack.client.jobs.submit({ tasks: titles(BIG) })).id);
const bigEnded = Promise.all(big.map(untilEnded));
const small: string[] = [];
for (let i = 1; i <= SMALL_JOBS; i++) {
  // Spread over the life of the large jobs.
  await model.arrived(Math.floor((BIG * BIG_JOBS * i) / (SMALL_JOBS + 1)));
  const { id } = await stack.client.jobs.submit({ tasks: titles(SMALL) });
  small.push(id);
  await untilEnded(id);
}
await bigEnded;
say(
  `load ${loadavg()
    .map((each) => each.toFixed(1))
    .join(' ')} at the end\n`,
);

/** However long it takes: the stack's own wait is for shorter jobs. */
async function untilEnded(jobId: string): Promise<void> {
  for await (const _ of stack.client.jobs.events(jobId)) {
    // Followed for its end alone.
  }
}

say('                       seconds from submission to claim:    a task   the job');
say('job            tasks   first    median       p95      takes     takes');
const bigOnes = await Promise.all(big.map(waitingOf));
const smallOnes = await Promise.all(small.map(waitingOf));
for (const [i, each] of bigOnes.entries()) tell(`large ${i + 1}`, each);
for (const [i, each] of smallOnes.entries()) tell(`small ${i + 1}`, each);
const all = { waits: bigOnes.flatMap(({ waits }) => waits), took: bigOnes.flatMap(({ took }) => took) };
tell('all large', { ...all, wholeMs: Math.max(...bigOnes.map(({ wholeMs }) => wholeMs)) });

const medians = bigOnes.map(({ waits }) => median(waits));
say(
  `\nmedian wait of the large jobs, longest over shortest: ${(Math.max(...medians) / Math.min(...medians)).toFixed(2)}`,
);
const target = median(all.took) + ALLOWED_MS;
const firsts = smallOnes.map(({ waits }) => Math.min(...waits));
const isMet = firsts.every((ms) => ms <= target);
say(
  `first start of the small jobs: ${firsts.join(' ms, ')} ms; target one task + 1 s = ${Math.round(target)} ms: ${isMet ? 'met' : 'MISSED'}`,
);
if (!isMet) process.exitCode = 1;
