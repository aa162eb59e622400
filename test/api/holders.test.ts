import { ClaimAnswer, HeartbeatAnswer, HolderAnswer } from '@crewboard/contracts';
import { describe, expect, it, test } from 'vitest';
import { bearer, openApp, READ_KEY, SUBMIT_KEY, WORKER_KEY } from './open-app.ts';
import { JOB_ID, NO_JOB_ID, TASK_ID } from './records.ts';

const AS_WORKER = bearer(WORKER_KEY);
const TOKEN = { claimToken: '1-secret' };

function post(url: string, path: string, body: unknown, headers: Record<string, string> = AS_WORKER) {
  return fetch(`${url}/v1/jobs/${JOB_ID}/tasks/${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

describe('POST /v1/jobs/:id/tasks/claim', () => {
  it.each([
    { owner: 'laptop-7' },
    { owner: { kind: 'human', id: 'ann' }, taskId: TASK_ID },
    { owner: 'laptop-7', labels: ['a', 'b'], leaseMs: 86_400_000, requestId: 'r 1' },
  ])('passes %j on', async (body) => {
    await using app = await openApp();
    const answer = await post(app.url, 'claim', body);
    expect(answer.status).toBe(200);
    expect(ClaimAnswer.parse(await answer.json())).toMatchObject({ task: { id: TASK_ID } });
    expect(app.fake.calls).toMatchObject([
      { method: 'claimTask', scope: { caller: 'holder', project: 'default' }, args: [JOB_ID, '', body] },
    ]);
  });

  it.each([
    ['no owner', {}, 'owner'],
    ['a blank owner', { owner: ' ' }, 'owner'],
    ['an owner of an unknown kind', { owner: { kind: 'robot', id: 'r' } }, 'owner.kind'],
    ['an unknown field', { owner: 'a', colour: 'red' }, 'colour'],
    ['a lease over 24 hours', { owner: 'a', leaseMs: 86_400_001 }, 'leaseMs'],
    ['a lease of nothing', { owner: 'a', leaseMs: 0 }, 'leaseMs'],
    ['no label', { owner: 'a', labels: [] }, 'labels'],
    ['an ID and labels', { owner: 'a', labels: ['x'], taskId: TASK_ID }, 'labels'],
    ['an ID of another shape', { owner: 'a', taskId: '7' }, 'taskId'],
    ['a NUL', { owner: 'a\u0000b' }, 'owner'],
  ])('refuses %s before anything else', async (_, body, path) => {
    await using app = await openApp();
    const answer = await post(app.url, 'claim', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'invalid_argument',
      path,
      example: { owner: expect.any(String) },
    });
    expect(app.fake.calls).toEqual([]);
  });
});

const GOOD: [string, Record<string, unknown>, string][] = [
  ['heartbeat', { leaseMs: 60_000 }, 'heartbeatTask'],
  ['note', { text: 'half done', progress: '5/10', version: 2 }, 'noteTask'],
  ['submit', { version: 2, summary: 'done', output: [1], evidence: [] }, 'submitTask'],
  ['block', { kind: 'needs_input', reason: 'what?', question: 'which?' }, 'blockTask'],
  ['block', { kind: 'dependency', reason: 'first', on: TASK_ID }, 'blockTask'],
  ['fail', { reason: 'no', class: 'timeout', retryable: false }, 'failTask'],
  ['release', { reason: 'home' }, 'releaseTask'],
];

test.each(GOOD)('POST .../%s passes %j on', async (action, body, method) => {
  await using app = await openApp();
  const sent = { ...TOKEN, requestId: 'r1', ...body };
  const answer = await post(app.url, `${TASK_ID}/${action}`, sent);
  expect(answer.status).toBe(200);
  const shape = action === 'heartbeat' ? HeartbeatAnswer : HolderAnswer;
  shape.parse(await answer.json());
  expect(app.fake.calls).toMatchObject([{ method, args: [JOB_ID, TASK_ID, sent] }]);
});

test.each([
  ['heartbeat', { leaseMs: '60000' }, 'leaseMs'],
  ['heartbeat', { leaseMs: 86_400_001 }, 'leaseMs'],
  ['heartbeat', { claimToken: 7 }, 'claimToken'],
  ['note', {}, 'text'],
  ['note', { text: 'x'.repeat(2049) }, 'text'],
  ['note', { text: '\ud800' }, 'text'],
  ['submit', { summary: 'done' }, 'version'],
  ['submit', { version: 2 }, 'summary'],
  ['submit', { version: '2', summary: 'done' }, 'version'],
  ['submit', { version: 2, summary: 'x'.repeat(2049) }, 'summary'],
  ['submit', { version: 2, summary: 'done', output: 'x'.repeat(70_000) }, 'output'],
  ['submit', { version: 2, summary: 'done', evidence: [{ kind: 'rumour' }] }, 'evidence[0].kind'],
  ['block', { kind: 'tired', reason: 'x' }, 'kind'],
  ['block', { kind: '"needs_input"', reason: 'x' }, 'kind'],
  ['block', { kind: 'dependency', reason: 'x' }, 'on'],
  ['block', { kind: 'needs_input', reason: 'x', on: TASK_ID }, 'on'],
  ['fail', {}, 'reason'],
  ['fail', { reason: 'x', class: 'infra' }, 'class'],
  ['fail', { reason: 'x', class: 'cancelled' }, 'class'],
  ['release', { reason: 7 }, 'reason'],
  ['release', { requestId: ' ' }, 'requestId'],
])('POST .../%s refuses %j and names the field', async (action, body, path) => {
  await using app = await openApp();
  const answer = await post(app.url, `${TASK_ID}/${action}`, { ...TOKEN, ...body });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    code: 'invalid_argument',
    path,
    example: { claimToken: expect.any(String) },
  });
  expect(app.fake.calls).toEqual([]);
});

const ALL: [string, object][] = [
  ['claim', { owner: 'a' }],
  ...GOOD.map(([action, body]): [string, object] => [`${TASK_ID}/${action}`, { ...TOKEN, ...body }]),
];

test.each(ALL)('%s needs a key of role worker or admin', async (path, body) => {
  await using app = await openApp();
  for (const key of [READ_KEY, SUBMIT_KEY]) {
    const answer = await post(app.url, path, body, bearer(key));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: 'forbidden' });
  }
  expect((await post(app.url, path, body, {})).status).toBe(401);
  expect(app.fake.calls).toEqual([]);
});

test('a job of another project is not there for a holder', async () => {
  await using app = await openApp();
  app.fake.job = { ...app.fake.job, project: 'other' };
  expect((await post(app.url, 'claim', { owner: 'a' })).status).toBe(404);
  const answer = await fetch(`${app.url}/v1/jobs/${NO_JOB_ID}/tasks/${TASK_ID}/release`, {
    method: 'POST',
    headers: { ...AS_WORKER, 'content-type': 'application/json' },
    body: JSON.stringify(TOKEN),
  });
  expect(answer.status).toBe(404);
});

test('GET of a claim names the method that is', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}/tasks/claim`, { headers: AS_WORKER });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('POST');
});
