import { setTimeout as wait } from 'node:timers/promises';
import { repliesIn, ownTask as taskIdOf } from '../regression/support.ts';
import { openOwnRedis } from '../support/own-redis.ts';
import {
  delay,
  hang,
  type MessagesRequest,
  reply,
  type ScriptedReply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { API_KEY, openStack } from '../support/stack.ts';

/**
 * Cancels 200 running tasks, again and again, over an API and two workers: each job by many requests at once. A third of
 * the calls hang, the others are answered after a while and followed by the next. After the first answer no call may start
 * for longer than 5 s, by the model's own log, and every answer is 200 or 202. Argument: rounds (20).
 */
const ROUNDS = Number(process.argv[2] ?? 20);
const RUNNING = 200;
const CANCELS = 20;
const WITHIN_MS = 5000;
const CALL_MS = 400;

function answer(request: MessagesRequest, number: number): ScriptedReply {
  if (number % 3 === 0) return hang();
  const note = toolUse('board_note', { taskId: taskIdOf(request), text: `Turn ${repliesIn(request)}.` });
  return delay(CALL_MS, reply([note]));
}

await using api = await startScriptedApi(answer);
await using stack = await openStack({
  store: await openOwnRedis('cancel'),
  variables: {
    ANTHROPIC_BASE_URL: api.url,
    CREWBOARD_CONCURRENCY: String(RUNNING / 2),
    CREWBOARD_LEASE_MS: '10000',
  },
});
await Promise.all([stack.startWorker(), stack.startWorker()]);

/** When a cancel was answered, and how. */
async function cancel(jobId: string): Promise<{ status: number; atMs: number }> {
  const answered = await fetch(`${stack.url}/v1/jobs/${jobId}/cancel`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ reason: 'enough' }),
  });
  await answered.arrayBuffer();
  return { status: answered.status, atMs: performance.now() };
}

/** A job whose tasks were running when it was cancelled. */
interface Cancelled {
  /** When the first request was answered. */
  firstMs: number;
  tasks: ReadonlySet<string>;
}

async function round(): Promise<{ cancelled: Cancelled; overMs: number; faults: string[] }> {
  const before = api.requests.length;
  const { id } = await stack.client.jobs.submit({
    tasks: Array.from({ length: 2 * RUNNING }, (_, i) => ({ title: `Task ${i}` })),
    limits: { maxParallel: RUNNING },
  });
  const running = async () => (await stack.client.jobs.get(id)).counts.in_progress;
  await api.arrived(before + RUNNING);
  while ((await running()) < RUNNING) await api.arrived(api.requests.length + 1);
  const answers = await Promise.all(Array.from({ length: CANCELS }, () => cancel(id)));
  const firstMs = Math.min(...answers.map(({ atMs }) => atMs));
  const job = await stack.untilEnded(id);
  const overMs = performance.now() - firstMs;
  const odd = answers.filter(({ status }) => status !== 200 && status !== 202);
  const { findings } = await stack.boards.examine(id);
  const faults = [
    ...odd.map(({ status }) => `a cancel was answered ${status}`),
    ...(job.status === 'cancelled' && job.counts.cancelled === 2 * RUNNING
      ? []
      : [`the job is ${job.status}: ${JSON.stringify(job.counts)}`]),
    ...findings.map((finding) => JSON.stringify(finding)),
  ];
  const { tasks } = await stack.boards.page(id, { after: 0, limit: 2 * RUNNING });
  return { cancelled: { firstMs, tasks: new Set(tasks.map((task) => task.id)) }, overMs, faults };
}

const say = (text: string) => process.stdout.write(`${text}\n`);
const begun = performance.now();
const jobs: Cancelled[] = [];
for (let number = 1; number <= ROUNDS; number++) {
  const { cancelled, overMs, faults } = await round();
  jobs.push(cancelled);
  say(
    `round ${number}: ${RUNNING} running, ${CANCELS} requests, all over ${Math.round(overMs)} ms after the first answer`,
  );
  for (const fault of faults) say(`  ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}
// Whatever would still start for a job that is over has started by then.
await wait(2 * WITHIN_MS);
const lasts = jobs.map(({ firstMs, tasks }) => {
  const own = api.requests.filter(({ body }) => tasks.has(taskIdOf(body)));
  return Math.max(...own.map(({ atMs }) => atMs)) - firstMs;
});
const late = lasts.filter((ms) => ms > WITHIN_MS);
if (late.length > 0) process.exitCode = 1;
say(
  `${ROUNDS} rounds in ${((performance.now() - begun) / 1000).toFixed(0)} s, ${api.requests.length} calls: the latest of a cancelled job started ${Math.round(Math.max(...lasts))} ms after the answer, ${late.length} jobs had one later than ${WITHIN_MS} ms`,
);
