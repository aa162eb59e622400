import { AttemptList, ReopenAnswer, Task, Why } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { bearer, openApp, READ_KEY, SUBMIT_KEY, WORKER_KEY } from './open-app.ts';
import { JOB_ID, TASK_ID } from './records.ts';

const AS_PERSON = bearer(SUBMIT_KEY);

function send(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = AS_PERSON,
) {
  return fetch(`${url}/v1/jobs/${JOB_ID}/tasks/${TASK_ID}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const DECISIONS: [string, Record<string, unknown>, string, unknown][] = [
  [
    '/unblock',
    { version: 3, answer: 'b.md' },
    'decideTask',
    { decision: 'unblock', version: 3, text: 'b.md' },
  ],
  ['/approve', { version: 3 }, 'decideTask', { decision: 'approve', version: 3 }],
  [
    '/reject',
    { version: 3, text: 'longer' },
    'decideTask',
    { decision: 'reject', version: 3, text: 'longer' },
  ],
  [
    '/cancel',
    { version: 3, reason: 'no', dependents: 'cancel' },
    'cancelTask',
    { version: 3, reason: 'no', dependents: 'cancel' },
  ],
  [
    '/reopen',
    { version: 3, reason: 'new data' },
    'reopenTask',
    { version: 3, reason: 'new data', action: 'reopen' },
  ],
  ['/retry', { version: 3 }, 'reopenTask', { version: 3, action: 'retry' }],
];

test.each(DECISIONS)('POST .../%s passes %j and the Idempotency-Key on', async (path, body, method, made) => {
  await using app = await openApp();
  const answer = await send(app.url, 'POST', path, body, { ...AS_PERSON, 'idempotency-key': 'k1' });
  expect(answer.status).toBe(200);
  (method === 'reopenTask' ? ReopenAnswer : Task).parse(await answer.json());
  expect(app.fake.calls).toMatchObject([
    { method, scope: { caller: 'submitter' }, args: [JOB_ID, TASK_ID, made, 'k1'] },
  ]);
});

test('PATCH passes on what is to change', async () => {
  await using app = await openApp();
  const body = { version: 1, title: 'Other', dependsOn: [], labels: ['x'], limits: { maxTurns: 5 } };
  const answer = await send(app.url, 'PATCH', '', body);
  expect(Task.parse(await answer.json()).id).toBe(TASK_ID);
  expect(app.fake.calls).toMatchObject([{ method: 'editTask', args: [JOB_ID, TASK_ID, body] }]);
});

test.each([
  ['PATCH', '', { title: 'Other' }, 'version'],
  ['PATCH', '', { version: 1 }, undefined],
  ['PATCH', '', { version: 1, key: 'k' }, 'key'],
  ['PATCH', '', { version: 1, status: 'completed' }, 'status'],
  ['PATCH', '', { version: 1, title: ' ' }, 'title'],
  ['PATCH', '', { version: 1, priority: 5 }, 'priority'],
  ['POST', '/unblock', { answer: 'x' }, 'version'],
  ['POST', '/unblock', { version: 1, text: 'x' }, 'text'],
  ['POST', '/approve', { version: 0 }, 'version'],
  ['POST', '/reject', { version: 1, answer: 'x' }, 'answer'],
  ['POST', '/reject', { version: 1, text: ' ' }, 'text'],
  ['POST', '/cancel', { version: 1, dependents: 'all' }, 'dependents'],
  ['POST', '/reopen', { version: '1' }, 'version'],
  ['POST', '/retry', { reason: 'x' }, 'version'],
])('%s %s refuses %j and names the field', async (method, path, body, field) => {
  await using app = await openApp();
  const answer = await send(app.url, method, path, body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    code: 'invalid_argument',
    ...(field === undefined ? {} : { path: field }),
    example: { version: expect.any(Number) },
  });
  expect(app.fake.calls).toEqual([]);
});

test('an Idempotency-Key that is none is refused', async () => {
  await using app = await openApp();
  const headers = { ...AS_PERSON, 'idempotency-key': 'two words' };
  expect((await send(app.url, 'POST', '/approve', { version: 1 }, headers)).status).toBe(400);
});

test('changes need a key of role submit or admin; reads take any', async () => {
  await using app = await openApp();
  for (const key of [READ_KEY, WORKER_KEY]) {
    for (const [path, body] of DECISIONS) {
      expect((await send(app.url, 'POST', path, body, bearer(key))).status).toBe(403);
    }
    expect((await send(app.url, 'PATCH', '', { version: 1, title: 'x' }, bearer(key))).status).toBe(403);
    expect((await send(app.url, 'GET', '/why', undefined, bearer(key))).status).toBe(200);
    expect((await send(app.url, 'GET', '/attempts', undefined, bearer(key))).status).toBe(200);
  }
  expect(app.fake.calls.map(({ method }) => method)).toEqual([
    'explainTask',
    'listAttempts',
    'explainTask',
    'listAttempts',
  ]);
});

test('attempts come in pages, and why answers text and causes', async () => {
  await using app = await openApp();
  const attempts = await send(app.url, 'GET', '/attempts?cursor=2&limit=100');
  expect(AttemptList.parse(await attempts.json())).toEqual({ attempts: [], nextCursor: '1' });
  const why = await send(app.url, 'GET', '/why');
  expect(Why.parse(await why.json())).toMatchObject({ because: [] });
  expect(app.fake.calls).toMatchObject([
    { args: [JOB_ID, TASK_ID, { cursor: '2', limit: 100 }] },
    { args: [JOB_ID, TASK_ID] },
  ]);
  expect((await send(app.url, 'GET', '/attempts?limit=101')).status).toBe(400);
});

test('PATCH of a path that takes none is method_not_allowed', async () => {
  await using app = await openApp();
  const answer = await send(app.url, 'PATCH', '/why', { version: 1 });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD');
});

test('POST .../unblock refuses an answer that says nothing', async () => {
  await using app = await openApp();
  const answer = await send(app.url, 'POST', '/unblock', { version: 3, answer: ' ' });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'invalid_argument' });
  expect(app.fake.calls).toEqual([]);
});
