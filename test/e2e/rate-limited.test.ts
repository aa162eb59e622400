import type { BoardEvent } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import {
  gate,
  hang,
  isProbe,
  overloaded,
  type RecordedRequest,
  rateLimited,
  reply,
  type ScriptedReply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openStack, type Stack, type WorkerProcess } from '../support/stack.ts';
import { taskIdIn } from './support/conversation.ts';

const submits = (body: RecordedRequest['body']): ScriptedReply =>
  reply([toolUse('board_submit', { taskId: taskIdIn(body), summary: 'Done.' })]);

const titles = (count: number) => Array.from({ length: count }, (_, i) => ({ title: `Row ${i + 1}` }));

/** Runs work of several processes: the worker whose request this was. */
const senderOf = (workers: readonly WorkerProcess[], request: RecordedRequest | undefined) =>
  workers.find(({ authorization }) => authorization === request?.headers.authorization);

async function runToEnd(stack: Stack, jobId: string) {
  const events: BoardEvent[] = [];
  const job = await stack.untilEnded(jobId, (event) => events.push(event));
  const { tasks } = await stack.boards.page(jobId, { after: 0, limit: 1000 });
  return { job, tasks, events, types: events.map(({ type }) => type) };
}

test('sixty parallel sub-agents of three processes meet a 429: one brake, no early call, spread starts, no attempt used', async () => {
  const TASKS = 60;
  const refusals = Array.from({ length: TASKS }, () => gate(rateLimited(3)));
  await using api = await startScriptedApi((request, number) => refusals[number - 1] ?? submits(request));
  await using stack = await openStack({
    variables: { ANTHROPIC_BASE_URL: api.url, CREWBOARD_CONCURRENCY: '20' },
  });
  await Promise.all([1, 2, 3].map(() => stack.startWorker()));
  const { id } = await stack.client.jobs.submit({ tasks: titles(TASKS), limits: { maxParallel: TASKS } });
  await api.arrived(TASKS);
  const refusedAt = performance.now();
  for (const refusal of refusals) refusal.open();
  const { job, tasks, types, events } = await runToEnd(stack, id);

  expect(job).toMatchObject({ status: 'succeeded', counts: { completed: TASKS } });
  // The leases of 2 s were kept at the brake of 3 s, and nothing was tried again from the start.
  expect(tasks.map(({ attempt, failures }) => [attempt, failures])).toEqual(tasks.map(() => [1, 0]));
  expect(types.filter((type) => ['task.parked', 'task.expired', 'task.failed'].includes(type))).toEqual([]);
  const later = api.requests.slice(TASKS).map(({ atMs }) => atMs);
  expect(later).toHaveLength(TASKS);
  expect(Math.min(...later) - refusedAt).toBeGreaterThanOrEqual(3000);
  expect(Math.max(...later) - Math.min(...later)).toBeGreaterThanOrEqual(1000);
  // Nobody was kept for long: the starts, and with them the throughput, are back a few seconds later.
  expect(Math.max(...later) - Math.min(...later)).toBeLessThan(15_000);
  const braked = events.filter(({ type }) => type === 'rate.braked');
  expect(braked).toHaveLength(1);
  expect(braked[0]?.data).toMatchObject({ reason: expect.stringContaining('429') });
}, 120_000);

test('a worker that is killed with the only place for a call leaves it to the others', async () => {
  const refusals = [gate(rateLimited(0.001)), gate(rateLimited(0.001))];
  let isKilled = false;
  await using api = await startScriptedApi(
    (request, number) => refusals[number - 1] ?? (isKilled ? submits(request) : hang()),
  );
  await using stack = await openStack({
    variables: { ANTHROPIC_BASE_URL: api.url, CREWBOARD_CONCURRENCY: '1' },
  });
  const workers = await Promise.all([stack.startWorker(), stack.startWorker()]);
  const { id } = await stack.client.jobs.submit({ tasks: titles(2) });
  await api.arrived(2);
  for (const refusal of refusals) refusal.open();
  await api.arrived(3);
  // Both were refused at once, so one call at a time is left, and this one holds it for good.
  const holder = senderOf(workers, api.requests[2]);
  expect(api.requests).toHaveLength(3);
  isKilled = true;
  await holder?.kill();
  const { job } = await runToEnd(stack, id);
  expect(job).toMatchObject({ status: 'succeeded', counts: { completed: 2 } });
  expect(holder).toBeDefined();
  expect(api.requests.slice(3).map((request) => senderOf(workers, request) === holder)).toEqual([
    false,
    false,
  ]);
}, 120_000);

test('a worker that is killed while it probes leaves the probe to another one', async () => {
  let isUp = false;
  const probes: number[] = [];
  await using api = await startScriptedApi((request, number) => {
    if (!isProbe(request)) return isUp ? submits(request) : overloaded();
    probes.push(number);
    // The first probe finds the model down; the second is never answered.
    if (isUp) return reply([text('p')]);
    return probes.length === 1 ? overloaded() : hang();
  });
  await using stack = await openStack({
    variables: {
      ANTHROPIC_BASE_URL: api.url,
      CREWBOARD_PARK_MS: '120',
      CREWBOARD_MODEL_TRIES: '2',
      CREWBOARD_MODEL_RETRY_MS: '20',
    },
  });
  const workers = await Promise.all([
    stack.startWorker({ CREWBOARD_MODEL_IDLE_MS: '2000' }),
    stack.startWorker({ CREWBOARD_MODEL_IDLE_MS: '2000' }),
  ]);
  const { id } = await stack.client.jobs.submit({ tasks: titles(6) });
  await stack.untilEvent(id, ({ type }) => type === 'rate.opened');
  const seen = () => api.requests.filter(({ body }) => isProbe(body));
  while (seen().length < 2) await api.arrived(api.requests.length + 1);
  isUp = true;
  await senderOf(workers, seen()[1])?.kill();
  const { job, types } = await runToEnd(stack, id);
  expect(job).toMatchObject({ status: 'succeeded', counts: { completed: 6 } });
  expect(types).toContain('rate.closed');
  expect(senderOf(workers, seen()[2])).not.toBe(senderOf(workers, seen()[1]));
}, 120_000);
