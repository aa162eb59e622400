import { expect, it } from 'vitest';
import { type LeadStack, openLeadStack } from '../orchestrator/support.ts';
import { testRedisUrl } from '../support/redis.ts';
import { gate, reply, toolUse } from '../support/scripted-messages-api.ts';
import { openSilentWire } from '../support/silent-wire.ts';
import { ownTask } from './support.ts';

const SHORT = { CREWBOARD_REDIS_SILENCE_MS: '500' };
const SOON = { timeout: 40_000 };
const TASKS = 6;

const submit = (taskId: string) => reply([toolUse('board_submit', { taskId, summary: 'done' })]);

/** A model whose calls all wait for one gate, until that is open. */
function heldModel() {
  const held: ReturnType<typeof gate>[] = [];
  let isOpen = false;
  return {
    subAgent: (request: Parameters<typeof ownTask>[0]) => {
      const answer = submit(ownTask(request));
      if (isOpen) return answer;
      const waiting = gate(answer);
      held.push(waiting);
      return waiting;
    },
    open() {
      isOpen = true;
      for (const each of held) each.open();
    },
  };
}

const tasks = Array.from({ length: TASKS }, (_, i) => ({ title: `Task ${i}` }));
/** Half of the tasks run when the connections die, the others wait in the queue. */
const limits = { maxParallel: TASKS / 2 };

/** Every task was completed by its first attempt, with one model call each. */
async function expectNothingRepeated(stack: LeadStack, jobId: string): Promise<void> {
  const { tasks: all } = await stack.local.client.tasks.list(jobId);
  expect(all.map(({ status, attempt }) => [status, attempt])).toEqual(Array(TASKS).fill(['completed', 1]));
  expect(stack.api.requests).toHaveLength(TASKS);
  expect(await stack.events(jobId, 'task.completed')).toHaveLength(TASKS);
  expect(await stack.boards.examine(jobId)).toMatchObject({ remaining: 0 });
}

const LOST = 'a Redis connection does not answer: it is built anew';
const WAITING = ['waiting at crewboard.lead', 'waiting at crewboard.tasks'];
const FOUND = 'a Redis connection answers again';

/** The connections that lines of the log with this message are about, each as often as it is named. */
function namedIn(log: string, message: string): string[] {
  const lines = log.split('\n').filter((line) => line.includes(message));
  return lines.flatMap((line) => /"connection":"([^"]+)"/.exec(line)?.[1] ?? []).sort();
}

it('a job goes on to its end after every connection to Redis has died without a word', async () => {
  await using wire = await openSilentWire(testRedisUrl());
  const model = heldModel();
  await using stack = await openLeadStack(model, { ...SHORT, REDIS_URL: wire.url });
  const jobId = await stack.submit({ tasks, limits });
  const seen: string[] = [];
  const following = (async () => {
    for await (const { type } of stack.local.client.jobs.events(jobId)) seen.push(type);
  })();
  await stack.api.arrived(TASKS / 2);
  await expect.poll(() => seen.filter((type) => type === 'task.claimed'), SOON).toHaveLength(TASKS / 2);
  wire.freeze('pass');
  model.open();
  await following;
  expect(seen.filter((type) => type === 'task.completed')).toHaveLength(TASKS);
  expect(seen.at(-1)).toBe('job.succeeded');
  await expectNothingRepeated(stack, jobId);
  const each = ['boards', 'commands', 'events', 'news', 'queues', 'queues'];
  expect(namedIn(stack.local.logged(), LOST)).toEqual(expect.arrayContaining(each));
  expect((await stack.local.call('GET', '/readyz')).status).toBe(200);
});

it('the server is not ready while no connection can be rebuilt, says why, and is ready again by itself', async () => {
  await using wire = await openSilentWire(testRedisUrl());
  const model = heldModel();
  await using stack = await openLeadStack(model, { ...SHORT, REDIS_URL: wire.url });
  const ready = () => stack.local.call('GET', '/readyz');
  expect(await ready()).toMatchObject({ status: 200, json: { ready: true } });
  const jobId = await stack.submit({ tasks, limits });
  await stack.api.arrived(TASKS / 2);
  wire.freeze('silence');
  await expect
    .poll(async () => (await ready()).json, SOON)
    .toMatchObject({
      ready: false,
      redis: 'down',
      reason:
        'redis: no answer for 500 ms or longer on the connection for commands, events, queues; it is being rebuilt',
    });
  // So long that BullMQ, too, has given up the connections on which it waits for jobs, and hangs on new ones.
  await expect.poll(() => namedIn(stack.local.logged(), LOST), SOON).toEqual(expect.arrayContaining(WAITING));
  expect((await ready()).status).toBe(503);
  model.open();
  wire.mend();
  await expect
    .poll(async () => (await ready()).json, SOON)
    .toEqual({ ready: true, redis: 'ok', model: 'anthropic' });
  await stack.until(jobId, 'succeeded');
  await expectNothingRepeated(stack, jobId);
  const all = ['boards', 'commands', 'events', 'news', 'queues', 'queues', ...WAITING];
  await expect.poll(() => namedIn(stack.local.logged(), FOUND), SOON).toEqual(all);
  expect(namedIn(stack.local.logged(), LOST)).toEqual(all);
  await stack.until(await stack.submit({ tasks }), 'succeeded');
});
