import { expect, test } from 'vitest';
import { reply, startScriptedApi, text, toolUse } from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask, repliesIn } from './support.ts';

const paused = (n: number) =>
  reply(
    [
      text(`Looking ${n}.`),
      { type: 'server_tool_use', id: `srv_${n}`, name: 'web_search', input: { query: `q${n}` } },
    ],
    { stopReason: 'pause_turn', usage: { input_tokens: 10 * n, output_tokens: n } },
  );

test('a turn that pauses three times goes back unchanged each time, and its usage adds up', async () => {
  await using api = await startScriptedApi((request) => {
    const replies = repliesIn(request);
    if (replies < 3) return paused(replies + 1);
    return reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })], {
      usage: { input_tokens: 7, output_tokens: 4 },
    });
  });
  await using stack = await openScriptedStack(api);
  const { job, tasks, journals } = await stack.run({ tasks: [{ title: 'One' }] });
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: 1, completed: 1 } });
  const last = api.requests.at(-1)?.body.messages ?? [];
  expect(last.slice(1).map(({ content }) => content)).toEqual([1, 2, 3].map((n) => paused(n).content));
  const replies = (journals.get(tasks[0]?.id ?? '') ?? []).filter((entry) => entry.kind === 'reply');
  const sum = (of: 'inputTokens' | 'outputTokens') =>
    replies.reduce((total, { usage }) => total + usage[of], 0);
  expect([sum('inputTokens'), sum('outputTokens')]).toEqual([10 + 20 + 30 + 7, 1 + 2 + 3 + 4]);
});

test('a turn that pauses without end fails the task as model after ten times', async () => {
  await using api = await startScriptedApi((_, call) => paused(call));
  await using stack = await openScriptedStack(api);
  const { job, tasks } = await stack.run({ tasks: [{ title: 'One', maxAttempts: 1 }] });
  expect(job.status).toBe('failed');
  expect(tasks[0]?.failure).toMatchObject({ class: 'model', reason: expect.stringContaining('paused') });
  expect(api.requests).toHaveLength(11);
});
