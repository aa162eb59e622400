import { expect, test } from 'vitest';
import { reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask } from './support.ts';

/** Looks again and again, for long on a busy machine. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });
const pausedText = (queue: string) => `the queue ${queue} is paused in Bull Board: resume it there`;

async function openPaused(queue: string) {
  const model = await startScriptedApi((request) =>
    reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'Done.' })]),
  );
  const stack = await openScriptedStack(model);
  const act = async (action: 'pause' | 'resume') => {
    const { status } = await stack.local.call('PUT', `/admin/queues/api/queues/${queue}/${action}`, {});
    expect(status).toBeLessThan(300);
  };
  await act('pause');
  const { client } = stack.local;
  return {
    client,
    act,
    reasonOf: async (jobId: string) => (await client.jobs.get(jobId)).statusReason,
    async [Symbol.asyncDispose]() {
      await stack[Symbol.asyncDispose]();
      await model.stop();
    },
  };
}

test('tasks behind a queue that somebody left paused say so, and so does their job, until it is resumed', {
  timeout: 60_000,
}, async () => {
  await using at = await openPaused('crewboard.tasks');
  const { client } = at;
  const tasks = Array.from({ length: 5 }, (_, i) => ({ title: `Row ${i + 1}` }));
  const { id } = await client.jobs.submit({ tasks });
  const reason = `queue: ${pausedText('crewboard.tasks')}`;
  await poll(() => at.reasonOf(id)).toBe(reason);
  expect((await client.jobs.list()).jobs.map(({ statusReason }) => statusReason)).toEqual([reason]);
  const [first] = (await client.tasks.list(id)).tasks;
  const why = async () => (await client.tasks.why(id, first?.id ?? '')).text;
  expect(await why()).toBe(`#1 "Row 1" is ready, but ${pausedText('crewboard.tasks')}`);
  // Nothing of this one waits in that queue.
  const outside = await client.jobs.submit({ tasks: [{ title: 'By hand', executor: 'human' }] });
  expect(await at.reasonOf(outside.id)).toMatch(/^people: /);

  await at.act('resume');
  await poll(async () => (await client.jobs.get(id)).status).toBe('succeeded');
  expect(await at.reasonOf(id)).toBeUndefined();
});

test('a lead behind its paused queue says so', { timeout: 60_000 }, async () => {
  await using at = await openPaused('crewboard.lead');
  const { id } = await at.client.jobs.submit({ goal: 'Do it.' });
  await poll(() => at.reasonOf(id)).toBe(`queue: ${pausedText('crewboard.lead')}`);
});

test('checks of a submission behind the paused queue say so', { timeout: 60_000 }, async () => {
  await using at = await openPaused('crewboard.tasks');
  const { tasks, jobs } = at.client;
  const task = { title: 'Outside', executor: 'external', outputSchema: { type: 'object' } } as const;
  const { id } = await jobs.submit({ tasks: [task] });
  const claimed = await tasks.claim(id, { owner: 'me' });
  const taskId = claimed.task?.id ?? '';
  const { claimToken = '', task: { version = 0 } = {} } = 'claimToken' in claimed ? claimed : {};
  await tasks.submit(id, taskId, { claimToken, version, summary: 'Done.', output: {} });
  const why = async () => (await tasks.why(id, taskId)).text;
  await poll(why).toBe(
    `#1 "Outside" is in review: its checks wait for a runner: ${pausedText('crewboard.tasks')}`,
  );
  await at.act('resume');
  await poll(async () => (await tasks.get(id, taskId)).status).toBe('completed');
});
