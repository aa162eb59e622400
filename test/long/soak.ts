import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CrewboardError, parseEnvironment } from '../../packages/contracts/src/index.ts';
import { startForgetfulModel } from '../soak/model.ts';
import { infoOf, type Sample, takeSample } from '../soak/sample.ts';
import { verdictsOf } from '../soak/verdict.ts';
import { openOwnRedis } from '../support/own-redis.ts';
import { openStack } from '../support/stack.ts';

/**
 * Has an API and two workers do 50 tasks a second for a while, with ended jobs leaving Redis after seconds, and says
 * whether their memory, Redis', its keys and its streams stay flat: `npm run soak -- --minutes 15`. Every fifth job has a
 * lead. `--retention` is in seconds.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    rate: { type: 'string', default: '50' },
    retention: { type: 'string', default: '15' },
  },
});
const DURATION_MS = Number(values.minutes) * 60_000;
const TASKS_A_SECOND = Number(values.rate);
const RETENTION_DAYS = Number(values.retention) / 86_400;
const JOB_MS = 1000;
const SAMPLE_MS = 10_000;
const LEAD_EVERY = 5;
/** What can not be worked off in time is not submitted either: the rate is said then. */
const OPEN_JOBS_MOST = 30;

const say = (text: string) => process.stdout.write(`${text}\n`);

/** The setting, or none where this version knows only whole days. */
function retention(): Record<string, string> {
  const variables = { CREWBOARD_RETENTION_DAYS: RETENTION_DAYS.toFixed(7) };
  try {
    parseEnvironment(variables);
    return variables;
  } catch (error) {
    if (!(error instanceof CrewboardError)) throw error;
    say(`ended jobs stay in Redis, which grows with them: ${error.detail}`);
    return {};
  }
}

const model = await startForgetfulModel();
await using _ = { [Symbol.asyncDispose]: () => model.stop() };
const store = await openOwnRedis('soak');
await using stack = await openStack({
  store,
  variables: {
    ANTHROPIC_BASE_URL: model.url,
    CREWBOARD_CONCURRENCY: '25',
    CREWBOARD_LEASE_MS: '30000',
    CREWBOARD_LOG_LEVEL: 'warn',
    ...retention(),
  },
});
const workers = await Promise.all([stack.startWorker(), stack.startWorker()]);
const pids = new Map([
  ['api', stack.api.pid],
  ...workers.map(({ pid }, i) => [`worker ${i + 1}`, pid] as const),
  ['redis', await infoOf(store.redis, 'process_id')],
]);

let completed = 0;
let submitted = 0;
let skipped = 0;
const open = new Set<string>();
const faults: string[] = [];

/** One second's work. */
async function runJob(number: number): Promise<void> {
  const goal = number % LEAD_EVERY === 0 ? { goal: 'See that all is done.' } : {};
  const tasks = Array.from({ length: TASKS_A_SECOND }, (_, i) => ({ title: `Task ${i}` }));
  const { id } = await stack.client.jobs.submit({ ...goal, tasks, limits: { maxParallel: 25 } });
  open.add(id);
  for await (const { type } of stack.client.jobs.events(id)) if (type === 'task.completed') completed += 1;
  open.delete(id);
}

async function submitAll(endsAt: number): Promise<void> {
  const running: Promise<void>[] = [];
  for (let next = performance.now(); next < endsAt; next += JOB_MS) {
    await wait(Math.max(0, next - performance.now()));
    if (open.size >= OPEN_JOBS_MOST) skipped += 1;
    else running.push(runJob(++submitted).catch((error: unknown) => void faults.push(String(error))));
  }
  await Promise.all(running);
}

const samples: Sample[] = [];
const begunAt = performance.now();
const row = (cells: readonly string[]) => say(cells.map((cell) => cell.padStart(11)).join(''));
async function sampleAll(endsAt: number): Promise<void> {
  let before = 0;
  for (let next = begunAt + SAMPLE_MS; next <= endsAt; next += SAMPLE_MS) {
    await wait(Math.max(0, next - performance.now()));
    const sample = await takeSample(store.redis, pids);
    if (samples.length === 0) row(['s', 'tasks/s', 'load', 'open jobs', ...Object.keys(sample)]);
    samples.push(sample);
    row([
      ((next - begunAt) / 1000).toFixed(0),
      ((completed - before) / (SAMPLE_MS / 1000)).toFixed(1),
      (loadavg()[0] ?? 0).toFixed(1),
      String(open.size),
      ...Object.values(sample).map((value) => (Number.isInteger(value) ? String(value) : value.toFixed(1))),
    ]);
    before = completed;
  }
}

const endsAt = begunAt + DURATION_MS;
await Promise.all([submitAll(endsAt), sampleAll(endsAt)]);

say(
  `\n${submitted} jobs, ${completed} tasks completed, ${(completed / (DURATION_MS / 1000)).toFixed(1)} tasks/s, ${skipped} jobs not submitted because ${OPEN_JOBS_MOST} were open`,
);
for (const fault of faults.slice(0, 10)) say(`  ${fault}`);
for (const { name, middle, last, isFlat } of verdictsOf(samples))
  say(
    `${isFlat ? 'flat    ' : 'NOT FLAT'} ${name}: ${middle.toFixed(1)} in the middle third, ${last.toFixed(1)} in the last`,
  );
if (faults.length > 0 || verdictsOf(samples).some(({ isFlat }) => !isFlat)) process.exitCode = 1;
