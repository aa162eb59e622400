import { expect, test } from 'vitest';
import { reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask } from './support.ts';

const KEYS = ['a:b', 'x:y:z', '42', 'https://h/p', 'файл 1'];

test('tasks with keys that no queue takes as IDs all run, under keys that nobody changed', async () => {
  await using api = await startScriptedApi((request) =>
    reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'Done.' })]),
  );
  await using stack = await openScriptedStack(api);
  const { job, tasks } = await stack.run({
    // Each after the one before it: odd keys are references, too.
    tasks: KEYS.map((key, i) => ({ key, title: `Task ${i}`, dependsOn: KEYS.slice(Math.max(0, i - 1), i) })),
  });
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: 5, completed: 5 } });
  expect(tasks.map(({ key, attempt }) => [key, attempt])).toEqual(KEYS.map((key) => [key, 1]));
  const { text } = await stack.local.call('GET', `/v1/jobs/${job.id}/results.jsonl`);
  const lines = text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).key)).toEqual(KEYS);
  expect(api.requests).toHaveLength(KEYS.length);
});
