import { AddTasksAnswer, type JobLimitsInput } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { gate, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { taskIdIn } from './support/conversation.ts';

const add = (stack: LocalStack, jobId: string, tasks: readonly object[], headers = {}) =>
  stack.call('POST', `/v1/jobs/${jobId}/tasks`, { tasks }, headers);

/** A job whose one task is held until `finish` is called; what is added meanwhile runs as it comes. */
async function openRunningJob(limits: JobLimitsInput = {}) {
  const held = gate(reply([]));
  const model = await startScriptedApi(async (request, call) => {
    if (call === 1) await held.opened;
    return reply([toolUse('board_submit', { taskId: taskIdIn(request), summary: 'Done.' })]);
  });
  const stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
  const { id } = await stack.client.jobs.submit({ tasks: [{ key: 'first', title: 'First' }], limits });
  await model.arrived(1);
  return {
    stack,
    id,
    finish: () => held.open(),
    async [Symbol.asyncDispose]() {
      held.open();
      await stack[Symbol.asyncDispose]();
      await model.stop();
    },
  };
}

async function untilEnd(stack: LocalStack, jobId: string) {
  for await (const _ of stack.client.jobs.events(jobId)) {
    // To its end.
  }
  return stack.client.jobs.get(jobId);
}

test('tasks added to a running job are answered in input order, run, and stand in its results', async () => {
  await using running = await openRunningJob();
  const { stack, id } = running;
  // Each names a later one: the answer keeps the order of the input all the same.
  const batch = [
    { key: 'c', title: 'C', dependsOn: ['b', 'first'] },
    { title: 'No key' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
    { key: 'a', title: 'A' },
  ];
  const answer = await add(stack, id, batch);
  expect(answer.status).toBe(201);
  const { created, tasks } = AddTasksAnswer.parse(answer.json);
  expect(tasks.map(({ number }) => number)).toEqual([2, 3, 4, 5]);
  expect(created).toEqual({ c: tasks[0]?.taskId, b: tasks[2]?.taskId, a: tasks[3]?.taskId });
  const listed = (await stack.client.tasks.list(id)).tasks;
  expect(listed.map(({ title }) => title)).toEqual(['First', 'C', 'No key', 'B', 'A']);
  expect(listed.slice(1).map((task) => task.id)).toEqual(tasks.map(({ taskId }) => taskId));

  running.finish();
  expect(await untilEnd(stack, id)).toMatchObject({
    status: 'succeeded',
    counts: { total: 5, completed: 5 },
  });
  const { text } = await stack.call('GET', `/v1/jobs/${id}/results.jsonl`);
  const titles = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).title);
  expect(titles).toEqual(['First', 'C', 'No key', 'B', 'A']);
});

test('a batch with one bad task adds none of them', async () => {
  await using running = await openRunningJob();
  const { stack, id } = running;
  const good = { key: 'good', title: 'Good' };
  const before = { tasks: await stack.client.tasks.list(id), keys: await stack.keys() };
  const batches: [object[], number, string][] = [
    [[good, { title: 'Bad', dependsOn: ['nobody'] }], 422, 'unknown_dependency'],
    [[good, { title: 'Bad', dependsOn: ['t_zzzzzzzz'] }], 422, 'unknown_dependency'],
    [
      [good, { key: 'x', title: 'X', dependsOn: ['y'] }, { key: 'y', title: 'Y', dependsOn: ['x'] }],
      422,
      'dependency_cycle',
    ],
    [[good, good], 409, 'duplicate_key'],
    [[good, { key: 'first', title: 'Another first' }], 409, 'duplicate_key'],
    [[good, { title: ' ' }], 400, 'invalid_argument'],
    [[good, { title: 'No command', executor: 'command' }], 400, 'invalid_argument'],
    [[], 400, 'invalid_argument'],
    [Array.from({ length: 1001 }, (_, i) => ({ title: `${i}` })), 422, 'limit_exceeded'],
  ];
  for (const [tasks, status, code] of batches) {
    expect(await add(stack, id, tasks)).toMatchObject({ status, json: { code } });
  }
  const after = { tasks: await stack.client.tasks.list(id), keys: await stack.keys() };
  expect(after).toEqual(before);
});

test('the same keys with the same content again, and the same Idempotency-Key, add nothing new', async () => {
  await using running = await openRunningJob();
  const { stack, id } = running;
  const keyed = [
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
  ];
  const first = await add(stack, id, keyed);
  expect((await add(stack, id, keyed)).json).toEqual(first.json);

  const once = { 'idempotency-key': 'batch-7' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => add(stack, id, [{ title: 'No key' }], once)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const other = await add(stack, id, [{ title: 'Another' }], once);
  expect(other).toMatchObject({ status: 422, json: { code: 'idempotency_mismatch' } });
  expect((await stack.client.tasks.list(id)).tasks.map(({ title }) => title)).toEqual([
    'First',
    'A',
    'B',
    'No key',
  ]);
});

test('a job takes no more tasks than maxTasks, and none once it has ended', async () => {
  await using running = await openRunningJob({ maxTasks: 2 });
  const { stack, id } = running;
  const over = await add(stack, id, [{ title: 'B' }, { title: 'C' }]);
  expect(over).toMatchObject({ status: 422, json: { code: 'limit_exceeded' } });
  expect((await add(stack, id, [{ title: 'B' }])).status).toBe(201);
  running.finish();
  expect(await untilEnd(stack, id)).toMatchObject({ status: 'succeeded', counts: { total: 2 } });
  const late = await add(stack, id, [{ title: 'Late' }]);
  expect(late).toMatchObject({ status: 409, json: { code: 'terminal', retry: 'never' } });
  expect((await stack.client.tasks.list(id)).tasks).toHaveLength(2);
});
