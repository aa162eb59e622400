import type { BoardEvent } from '@crewboard/contracts';
import { expect, test, vi } from 'vitest';
import { openScriptedStack, ownTask, type ScriptedStack } from '../regression/support.ts';
import {
  httpError,
  isProbe,
  type MessagesRequest,
  rateLimited,
  reply,
  startScriptedApi,
  text,
  toolUse,
  withHeaders,
} from '../support/scripted-messages-api.ts';

const done = (request: MessagesRequest) =>
  reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'Done.' })]);
const titles = (count: number) => Array.from({ length: count }, (_, i) => ({ title: `Row ${i + 1}` }));
const ANN = { kind: 'user', id: 'ann' } as const;

async function eventsUntil(stack: ScriptedStack, jobId: string, matches: (event: BoardEvent) => boolean) {
  const events: BoardEvent[] = [];
  for await (const event of stack.local.client.jobs.events(jobId)) {
    events.push(event);
    if (matches(event)) break;
  }
  return events;
}

const count = (events: readonly BoardEvent[], type: string) =>
  events.filter((event) => event.type === type).length;

test.each([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [400, 'invalid_request_error'],
] as const)(
  'a %i pauses the job once, gives its tasks back unharmed, and a good probe resumes it',
  async (status, type) => {
    let refuses = true;
    await using api = await startScriptedApi((request) => {
      if (isProbe(request)) return refuses ? httpError(401, 'authentication_error') : reply([text('p')]);
      return refuses ? httpError(status, type) : done(request);
    });
    await using stack = await openScriptedStack(api, { variables: { CREWBOARD_PARK_MS: '50' } });
    const { id } = await stack.local.client.jobs.submit({ tasks: titles(12) });
    await eventsUntil(stack, id, (event) => event.type === 'task.parked');
    // Bad probes follow each other, and lift nothing.
    while (api.requests.filter(({ body }) => isProbe(body)).length < 3)
      await api.arrived(api.requests.length + 1);
    const { job, tasks } = await stack.read(id);
    expect(job).toMatchObject({
      status: 'paused',
      pauses: ['provider'],
      statusReason: expect.stringContaining(`provider: the model answered ${status} ${type}`),
      counts: { total: 12, held: 12, failed: 0 },
    });
    expect(tasks.every(({ failures }) => failures === 0)).toBe(true);
    const [first] = tasks;
    const why = await stack.local.call('GET', `/v1/jobs/${id}/tasks/${first?.id}/why`);
    expect(why.json).toMatchObject({
      text: expect.stringContaining(`provider: the model answered ${status}`),
    });

    refuses = false;
    const events = await eventsUntil(stack, id, () => false);
    expect([count(events, 'job.paused'), count(events, 'job.resumed'), count(events, 'task.failed')]).toEqual(
      [1, 1, 0],
    );
    expect(await stack.local.client.jobs.get(id)).toMatchObject({
      status: 'succeeded',
      counts: { completed: 12 },
    });
  },
);

test('a person resumes a job whose calls were refused, before any probe', async () => {
  let refuses = true;
  await using api = await startScriptedApi((request) =>
    refuses ? httpError(401, 'authentication_error') : done(request),
  );
  await using stack = await openScriptedStack(api);
  const { id } = await stack.local.client.jobs.submit({ tasks: titles(3) });
  // Also those whose calls are still on their way: one that is refused after the resume pauses the job again.
  let parked = 0;
  await eventsUntil(stack, id, ({ type }) => type === 'task.parked' && ++parked === 3);
  refuses = false;
  await stack.boards.resumeJob(id, ANN);
  await eventsUntil(stack, id, () => false);
  expect(await stack.local.client.jobs.get(id)).toMatchObject({
    status: 'succeeded',
    counts: { completed: 3 },
  });
  expect(api.requests.some(({ body }) => isProbe(body))).toBe(false);
});

test('nobody probes any more for a job that is cancelled', async () => {
  await using api = await startScriptedApi(() => httpError(404, 'not_found_error'));
  await using stack = await openScriptedStack(api, { variables: { CREWBOARD_PARK_MS: '20' } });
  const { id } = await stack.local.client.jobs.submit({ tasks: titles(1) });
  await eventsUntil(stack, id, (event) => event.type === 'job.paused');
  const { redis, prefix } = stack.local.store;
  expect(await redis.scard(`${prefix}:rate:watched`)).toBe(1);
  await stack.local.call('POST', `/v1/jobs/${id}/cancel`, {});
  await eventsUntil(stack, id, () => false);
  await vi.waitFor(async () => expect(await redis.scard(`${prefix}:rate:watched`)).toBe(0), 30_000);
});

test('a wait of more than 20 s parks the attempt without a strike, and why says until when', async () => {
  await using api = await startScriptedApi(() => rateLimited(60));
  await using stack = await openScriptedStack(api, {
    variables: { CREWBOARD_MODEL_RETRY_MS: '20', CREWBOARD_INFRA_STRIKES: '1' },
  });
  const { id } = await stack.local.client.jobs.submit({ tasks: titles(1) });
  await eventsUntil(stack, id, (event) => event.type === 'task.parked');
  const { tasks } = await stack.read(id);
  expect(tasks).toMatchObject([{ status: 'pending', readiness: { state: 'scheduled' }, failures: 0 }]);
  const why = await stack.local.call('GET', `/v1/jobs/${id}/tasks/${tasks[0]?.id}/why`);
  expect(why.json).toMatchObject({
    text: expect.stringMatching(
      /parked: rate_limited: calls of \S+ wait until \d{4}-\d\d-\d\dT\S+Z \(the model answered 429/,
    ),
  });
  const left = Date.parse(tasks[0]?.notBefore ?? '') - Date.now();
  expect(left).toBeGreaterThan(50_000);
  expect(left).toBeLessThan(61_000);
  expect(api.requests).toHaveLength(1);
});

test('an answer that uses a limit up brakes the next call until the limit is reset', async () => {
  await using api = await startScriptedApi((request, number) => {
    if (number > 1) return done(request);
    const reset = new Date(Date.now() + 2000).toISOString();
    return withHeaders(
      {
        date: '',
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': reset,
        'anthropic-ratelimit-tokens-remaining': '100',
        'anthropic-ratelimit-tokens-reset': new Date(Date.now() + 60_000).toISOString(),
      },
      done(request),
    );
  });
  await using stack = await openScriptedStack(api);
  const job = await stack.local.run({ tasks: titles(2), limits: { maxParallel: 1 } });
  expect(job).toMatchObject({ status: 'succeeded', counts: { completed: 2 } });
  const [first, second] = api.requests.map(({ atMs }) => atMs);
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1990);
});
