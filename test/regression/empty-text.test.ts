import { expect, test } from 'vitest';
import { lastResults, reply, startScriptedApi, text, toolUse } from '../support/scripted-messages-api.ts';
import { folderWith, openScriptedStack, repliesIn } from './support.ts';

test('empty text never goes back, and an empty ending is nudged once and then fails the task as model', async () => {
  await using folder = await folderWith({ 'a.txt': 'nothing to be found here' });
  await using api = await startScriptedApi((request) =>
    repliesIn(request) === 0
      ? reply([text(''), toolUse('search_files', { pattern: 'needle' }, 'c1')])
      : reply([]),
  );
  await using stack = await openScriptedStack(api, { workspaces: [folder.path] });
  const { job, tasks } = await stack.run({
    workspace: { path: folder.path },
    tasks: [{ title: 'Find it', maxAttempts: 1 }],
  });
  expect(job).toMatchObject({ status: 'failed', counts: { total: 1, failed: 1 } });
  expect(tasks[0]).toMatchObject({ status: 'failed', failure: { class: 'model' }, failures: 1 });

  expect(api.requests).toHaveLength(3);
  const [, second, third] = api.requests.map(({ body }) => body);
  expect(second?.messages[1]?.content).toMatchObject([{ type: 'tool_use', id: 'c1' }]);
  expect(lastResults(second ?? missing())[0]?.text).not.toBe('');
  expect(JSON.stringify(third?.messages.at(-1))).toContain('Your last reply was empty.');
  expect(third?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
});

function missing(): never {
  throw new Error('the request is missing');
}
