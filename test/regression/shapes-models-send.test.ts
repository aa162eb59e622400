import { expect, test } from 'vitest';
import { ANN } from '../support/board.ts';
import {
  lastResults,
  type MessagesRequest,
  offersTool,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask, repliesIn } from './support.ts';

const TITLE = '{"looks": "like JSON"}';

/** The lead sends its plan as JSON text, then a number for an ID, then an unknown key, and then does it right. */
function lead(request: MessagesRequest) {
  const step = repliesIn(request);
  if (step === 0) return [toolUse('board_plan', { ops: JSON.stringify([{ op: 'add', title: TITLE }]) })];
  if (step === 1) return [toolUse('board_get', { taskId: 7 }, 'number')];
  if (step === 2) return [toolUse('board_list', { page: 1 }, 'extra')];
  const isSettled = lastResults(request).some(({ text }) => text.includes('"allSettled":true'));
  return [isSettled ? toolUse('finish_job', { summary: 'done' }) : toolUse('board_wait', {})];
}

function subAgent(request: MessagesRequest) {
  const taskId = ownTask(request);
  if (repliesIn(request) > 0) return [toolUse('board_submit', { taskId, summary: 'done' })];
  return [toolUse('board_block', { taskId, kind: '"needs_input"', reason: 'which one?' }, 'block')];
}

test('JSON text is taken where the schema has an object, array or enum; other shapes are refused with path and example', async () => {
  await using api = await startScriptedApi((request) =>
    reply(offersTool(request, 'finish_job') ? lead(request) : subAgent(request)),
  );
  await using stack = await openScriptedStack(api);
  const { id } = await stack.local.client.jobs.submit({ goal: 'Do it' });
  const first = async () => (await stack.boards.page(id, { after: 0, limit: 1 })).tasks[0];
  await expect.poll(async () => (await first())?.status, { timeout: 15_000 }).toBe('blocked');
  const blocked = await first();
  expect(blocked).toMatchObject({ title: TITLE, block: { kind: 'needs_input', reason: 'which one?' } });
  await stack.boards.resolve(id, {
    taskId: blocked?.id ?? '',
    version: blocked?.version ?? 0,
    decision: 'unblock',
    text: 'this one',
    by: ANN,
  });
  await expect
    .poll(async () => (await stack.local.client.jobs.get(id)).status, { timeout: 15_000 })
    .toBe('succeeded');
  const { job } = await stack.read(id);
  expect(job.counts).toMatchObject({ total: 1, completed: 1 });

  const refused = (call: string) =>
    api.requests.flatMap(({ body }) => lastResults(body)).find((result) => result.id === call);
  const number = refused('number');
  expect(number?.isError).toBe(true);
  expect(JSON.parse(number?.text ?? '')).toMatchObject({
    code: 'invalid_argument',
    path: 'taskId',
    example: { taskId: expect.any(String) },
  });
  const extra = refused('extra');
  expect(extra?.isError).toBe(true);
  expect(JSON.parse(extra?.text ?? '')).toMatchObject({ code: 'invalid_argument', path: 'page' });
});
