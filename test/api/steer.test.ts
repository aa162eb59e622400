import { Job, MessageAnswer } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { bearer, openApp, READ_KEY, SUBMIT_KEY } from './open-app.ts';
import { JOB_ID, TASK_ID } from './records.ts';

function send(url: string, path: string, body?: unknown, headers = bearer(SUBMIT_KEY)) {
  return fetch(`${url}/v1/jobs/${JOB_ID}${path}`, {
    method: 'POST',
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

test('a message is accepted with 202 and its ID', async () => {
  await using app = await openApp();
  const headers = { ...bearer(SUBMIT_KEY), 'idempotency-key': 'k1' };
  const answer = await send(app.url, '/messages', { text: 'Go on', target: TASK_ID }, headers);
  expect(answer.status).toBe(202);
  expect(MessageAnswer.parse(await answer.json())).toEqual({ messageId: 'msg_abcdefgh2345' });
  expect(app.fake.calls).toMatchObject([
    { method: 'sendMessage', args: [JOB_ID, { text: 'Go on', target: TASK_ID }, 'k1'] },
  ]);
});

test.each([
  ['a blank text', { text: ' ' }],
  ['more than 8 KB', { text: 'x'.repeat(8193) }],
  ['a target that is no ID', { text: 'hello', target: 'nobody' }],
  ['an unknown field', { text: 'hello', to: 'lead' }],
  ['no text', {}],
])('a message with %s is refused', async (_, body) => {
  await using app = await openApp();
  const answer = await send(app.url, '/messages', body);
  expect([answer.status, Object(await answer.json()).code]).toEqual([400, 'invalid_argument']);
  expect(app.fake.calls).toEqual([]);
});

test('a plan is approved or rejected by the version seen, or without one whichever waits', async () => {
  await using app = await openApp();
  const said = { version: 2, text: 'fewer' };
  for (const [path, body] of [
    ['/plan/approve', undefined],
    ['/plan/approve', { version: 2 }],
    ['/plan/reject', said],
    ['/plan/reject', {}],
  ] as const) {
    const answer = await send(app.url, path, body);
    expect(answer.status).toBe(200);
    Job.parse(await answer.json());
  }
  expect(app.fake.calls.map(({ method, args }) => [method, args[1]])).toEqual([
    ['approvePlan', {}],
    ['approvePlan', { version: 2 }],
    ['rejectPlan', said],
    ['rejectPlan', {}],
  ]);
});

test('a plan is not rejected with a blank text', async () => {
  await using app = await openApp();
  const answer = await send(app.url, '/plan/reject', { text: ' ' });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { code: 'invalid_argument', path: 'text' },
  ]);
  expect(app.fake.calls).toEqual([]);
});

test('steering needs a key of role submit or admin', async () => {
  await using app = await openApp();
  for (const path of ['/messages', '/plan/approve', '/plan/reject']) {
    expect((await send(app.url, path, { text: 'x' }, bearer(READ_KEY))).status).toBe(403);
  }
});
