import { expect, test } from 'vitest';
import { expectHonestCounts, readRecord } from '../e2e/support/job-record.ts';
import { lastResults, toolUse } from '../support/scripted-messages-api.ts';
import { openStack } from '../support/stack.ts';
import { ownTask, repliesIn } from './support.ts';

const USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

test('a worker killed between two calls of one turn: one message answers both, and the first is not run again', {
  timeout: 120_000,
}, async () => {
  await using stack = await openStack({
    answer(request) {
      const taskId = ownTask(request);
      const content =
        repliesIn(request) === 0
          ? [toolUse('board_note', { taskId, text: 'half-way' }, 't1'), toolUse('board_list', {}, 't2')]
          : [toolUse('board_submit', { taskId, summary: 'done' }, 't3')];
      return { content, stopReason: 'tool_use', usage: USAGE };
    },
  });
  const victim = await stack.startWorker();
  const t1Journalled = victim.wire.freezeAt({ words: /"kind":"tool.result"[^\r]*"t1"/, when: 'after' });
  const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'One' }] });
  await t1Journalled;
  await victim.kill();
  const before = await readRecord(stack, id);
  const kinds = [...before.journals.values()][0]?.map(({ kind }) => kind);
  expect(kinds).toEqual(['message', 'reply', 'tool.started', 'tool.result']);

  await stack.startWorker();
  const job = await stack.untilEnded(id);
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: 1, completed: 1 } });
  expectHonestCounts(job.counts);
  const { events } = await readRecord(stack, id);
  expect(events.filter(({ type }) => type === 'task.noted')).toHaveLength(1);

  expect(stack.model.requests).toHaveLength(2);
  const second = stack.model.requests[1]?.body;
  if (second === undefined) throw new Error('no second request');
  expect(second.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(lastResults(second).map(({ id: call, isError }) => [call, isError])).toEqual([
    ['t1', false],
    ['t2', false],
  ]);
  expect(stack.model.violations).toEqual([]);
});
