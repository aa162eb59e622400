import { TERMINAL_EVENT_TYPES } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import {
  httpError,
  isProbe,
  lastResults,
  type MessagesRequest,
  reply,
  type ScriptedReply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { isLead, taskIdIn } from './support/conversation.ts';
import { allowLoopbackOnly } from './support/loopback-only.ts';

const KEY = 'sk-canary-4f1c2e8a77b0';

/** A model server of somebody else: a lead that plans two tasks and finishes, sub-agents that submit. */
function answer(request: MessagesRequest): ScriptedReply {
  if (!isLead(request)) {
    return reply([
      toolUse('board_submit', { taskId: taskIdIn(request), summary: 'Done.', output: { n: 1 } }),
    ]);
  }
  const [last] = lastResults(request);
  if (last === undefined) {
    const ops = ['a', 'b'].map((key) => ({ op: 'add', key, title: `Task ${key}` }));
    return reply([text('I plan.'), toolUse('board_plan', { ops })]);
  }
  if (last.text.includes('"created"')) return reply([toolUse('board_wait')]);
  return reply([toolUse('finish_job', { summary: 'Both are done.', output: { done: 2 } })]);
}

async function eventsOf(stack: LocalStack, jobId: string, until: (type: string) => boolean) {
  const events = [];
  for await (const event of stack.client.jobs.events(jobId)) {
    events.push(event);
    if (until(event.type)) break;
  }
  return events;
}

const queuesUsed = async (stack: LocalStack) =>
  (await stack.keys()).flatMap((key) => /:(crewboard\.[a-z.]+):events$/.exec(key)?.[1] ?? []).sort();

test('a job runs on the Messages API of ANTHROPIC_BASE_URL, and nothing of this process leaves the machine', async () => {
  using network = allowLoopbackOnly();
  await using model = await startScriptedApi(answer);
  await using stack = await openLocalStack({
    provider: { url: model.url, key: KEY },
    variables: { CREWBOARD_LEAD_MODEL: 'lead-of-theirs', CREWBOARD_WORKER_MODEL: 'worker-of-theirs' },
  });
  const job = await stack.run({ goal: 'Do two things.' });
  expect(job).toMatchObject({ status: 'succeeded', simulated: false, counts: { total: 2, completed: 2 } });
  expect(await stack.client.jobs.result(job.id)).toMatchObject({
    summary: 'Both are done.',
    output: { done: 2 },
    spend: { inputTokens: 100 * model.requests.length, outputTokens: 20 * model.requests.length },
  });
  expect(await stack.client.ready()).toEqual({ ready: true, redis: 'ok', model: 'anthropic' });
  expect(await queuesUsed(stack)).toEqual(['crewboard.lead', 'crewboard.tasks']);

  expect(model.requests).toHaveLength(5);
  for (const { body, headers } of model.requests) {
    expect(headers.authorization ?? `Bearer ${headers['x-api-key']}`).toBe(`Bearer ${KEY}`);
    expect(body.model).toBe(isLead(body) ? 'lead-of-theirs' : 'worker-of-theirs');
  }
  expect(network.targets).toContain(new URL(model.url).host);
  for (const target of network.targets) expect(target).toMatch(/^(127\.0\.0\.1|localhost):\d+$/);
  // The watch itself sees what goes elsewhere.
  await expect(fetch('http://192.0.2.1/')).rejects.toMatchObject({
    cause: { message: expect.stringContaining('refused by the test') },
  });
  expect(network.targets).toContain('192.0.2.1:80');
});

test('a simulated job uses the queues and the mark of its own', async () => {
  await using stack = await openLocalStack();
  const job = await stack.run({ tasks: [{ title: 'A' }] });
  expect(job).toMatchObject({ status: 'succeeded', simulated: true });
  expect(await queuesUsed(stack)).toEqual(['crewboard.sim.tasks']);
});

test("a key that the provider refuses pauses the job with the provider's words, costs no attempt, and shows nowhere", async () => {
  let refuses = true;
  await using model = await startScriptedApi((request) => {
    if (refuses) {
      const message = `invalid x-api-key: Bearer ${KEY} (${KEY})`;
      return httpError(401, 'authentication_error', { 'x-echo': KEY }, message);
    }
    return isProbe(request) ? reply([text('p')]) : answer(request);
  });
  await using stack = await openLocalStack({
    provider: { url: model.url, key: KEY },
    variables: { CREWBOARD_PARK_MS: '100' },
  });
  const { id } = await stack.client.jobs.submit({
    tasks: [{ key: 'a', title: 'A' }],
    limits: { maxAttempts: 1 },
  });
  const events = await eventsOf(stack, id, (type) => type === 'task.parked');
  const refusal = /^provider: the model answered 401 authentication_error: invalid x-api-key/;
  expect(events.at(-1)?.data).toMatchObject({ reason: expect.stringMatching(refusal) });
  expect(await stack.client.jobs.get(id)).toMatchObject({
    status: 'paused',
    pauses: ['provider'],
    statusReason: expect.stringMatching(refusal),
  });
  const [task] = (await stack.client.tasks.list(id)).tasks;
  expect(task).toMatchObject({
    status: 'pending',
    readiness: { state: 'held', cause: 'pause' },
    failures: 0,
  });
  // The first call, and a probe that is refused as well.
  await model.arrived(2);
  expect(model.requests.map(({ body }) => isProbe(body))).toEqual([false, true]);

  refuses = false;
  const all = await eventsOf(stack, id, (type) => TERMINAL_EVENT_TYPES.some((end) => end === type));
  expect(all.filter(({ type }) => type === 'job.paused')).toHaveLength(1);
  expect(await stack.client.jobs.get(id)).toMatchObject({ status: 'succeeded', counts: { completed: 1 } });
  expect((await stack.client.tasks.list(id)).tasks).toMatchObject([{ status: 'completed', failures: 0 }]);
  const places = { events: JSON.stringify(all), redis: await stack.dump(), logs: stack.logged() };
  for (const [place, content] of Object.entries(places)) {
    expect(content, place).toContain('401');
    expect(content.includes(KEY), `the key is in ${place}`).toBe(false);
  }
});

test('a lead whose key is refused waits, too, and then leads to the end', async () => {
  let refused = 0;
  await using model = await startScriptedApi((request) => {
    if (++refused <= 2) return httpError(403, 'permission_error');
    return isProbe(request) ? reply([text('p')]) : answer(request);
  });
  await using stack = await openLocalStack({
    provider: { url: model.url, key: KEY },
    variables: { CREWBOARD_PARK_MS: '50' },
  });
  const job = await stack.run({ goal: 'Do two things.' });
  expect(job).toMatchObject({ status: 'succeeded', counts: { completed: 2 } });
});

test('without a model the API refuses a job that needs one, and says how to get one', async () => {
  await using stack = await openLocalStack({
    worker: false,
    variables: { CREWBOARD_SIMULATED_MODEL_URL: '' },
  });
  const answered = await stack.call('POST', '/v1/jobs', { goal: 'x' });
  expect(answered).toMatchObject({ status: 503, json: { code: 'unavailable' } });
  expect(answered.text).toContain('ANTHROPIC_API_KEY');
  expect((await stack.client.jobs.list()).jobs).toEqual([]);
});
