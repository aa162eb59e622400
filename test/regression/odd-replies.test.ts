import { expect, test } from 'vitest';
import {
  cutStream,
  lastResults,
  reply,
  type ScriptedReply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask, repliesIn } from './support.ts';

/** Runs one task whose model first answers with `odd`, then submits; returns the requests. */
async function afterOdd(odd: readonly ScriptedReply[]) {
  await using api = await startScriptedApi((request, call) => {
    const first = odd[call - 1];
    return first ?? reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);
  });
  await using stack = await openScriptedStack(api, { variables: { CREWBOARD_MODEL_RETRY_MS: '1000' } });
  const { job } = await stack.run({ tasks: [{ title: 'One' }] });
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: 1, completed: 1 } });
  // A call of a tool that is not there is the one thing that the rules would have had the model not do.
  const violations = api.takeViolations().filter((line) => !line.includes('is not offered'));
  expect(violations).toEqual([]);
  return api.requests.map(({ body }) => body);
}

test('a stream that ends without message_stop is no reply: the same request goes again', async () => {
  const [first, second] = await afterOdd([cutStream(5, reply([text('Half a reply that was cut off')]))]);
  expect(second).toEqual(first);
});

test('a block of an unknown type goes back as it came', async () => {
  const odd = { type: 'from_the_future', nested: { deep: [1, null, 'x'] } };
  const requests = await afterOdd([reply([text('I look.'), odd, toolUse('board_list', {}, 'c1')])]);
  expect(requests[1]?.messages[1]?.content).toMatchObject([{ type: 'text' }, odd, { id: 'c1' }]);
});

test('a call of a tool that does not exist is answered with the names of those that do', async () => {
  const requests = await afterOdd([
    reply([toolUse('make_coffee', {}, 'c1'), toolUse('board_list', {}, 'c2')]),
  ]);
  const second = requests[1];
  if (second === undefined) throw new Error('no second request');
  expect(lastResults(second).map(({ id, isError }) => [id, isError])).toEqual([
    ['c1', true],
    ['c2', false],
  ]);
  expect(lastResults(second)[0]?.text).toContain('board_submit');
  expect(repliesIn(second)).toBe(1);
});
