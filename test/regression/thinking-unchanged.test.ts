import { expect, test } from 'vitest';
import { redactedThinking, text, thinking, toolUse } from '../support/scripted-messages-api.ts';
import { openStack } from '../support/stack.ts';
import { ownTask, repliesIn } from './support.ts';

const CONTENT = [
  thinking('Two looks are needed.', 'sig-of-the-provider'),
  text('I look.'),
  toolUse('board_list', {}, 'look_1'),
  redactedThinking('opaque-data'),
  toolUse('board_list', { view: 'all' }, 'look_2'),
];
const USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

test('thinking, text and calls go back deep-equal, also from the worker that takes over', {
  timeout: 120_000,
}, async () => {
  await using stack = await openStack({
    answer: (request) =>
      repliesIn(request) === 0
        ? { content: CONTENT, stopReason: 'tool_use', usage: USAGE }
        : {
            content: [toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })],
            stopReason: 'tool_use',
            usage: USAGE,
          },
  });
  const held = stack.model.hold((request) => repliesIn(request) === 1, 1);
  const victim = await stack.startWorker();
  const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'One' }] });
  await held.arrived(1);
  await victim.kill();
  held.open();
  await stack.startWorker();
  const job = await stack.untilEnded(id);
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: 1, completed: 1 } });
  const withFirstReply = stack.model.requests.filter(({ body }) => repliesIn(body) === 1);
  expect(withFirstReply.map(({ body }) => body.messages[1]?.content)).toEqual([CONTENT, CONTENT]);
  expect(stack.model.violations).toEqual([]);
});
