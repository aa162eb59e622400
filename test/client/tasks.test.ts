import { createClient, type TaskCalls } from '@crewboard/client';
import { expect, test } from 'vitest';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { JOB_ID, TASK_ID } from '../api/records.ts';

const clientOf = ({ url }: { url: string }) => createClient({ baseUrl: url, apiKey: ADMIN_KEY });
const held = { claimToken: '1-secret', requestId: 'r1' };
const once = { idempotencyKey: 'k1' };

test('claims, and answers what the claim brings', async () => {
  await using app = await openApp();
  const body = { owner: 'laptop-7', labels: ['a'], leaseMs: 1000 };
  const claim = await clientOf(app).tasks.claim(JOB_ID, body);
  expect(claim).toMatchObject({ task: { id: TASK_ID }, claimToken: '1-secret', earlierAttempts: [] });
  expect(app.fake.calls).toMatchObject([{ method: 'claimTask', args: [JOB_ID, '', body] }]);
});

test.each<[string, (tasks: TaskCalls) => Promise<unknown>, string, unknown[]]>([
  [
    'heartbeat',
    (tasks) => tasks.heartbeat(JOB_ID, TASK_ID, { ...held, leaseMs: 5 }),
    'heartbeatTask',
    [{ ...held, leaseMs: 5 }],
  ],
  [
    'note',
    (tasks) => tasks.note(JOB_ID, TASK_ID, { ...held, text: 'x' }),
    'noteTask',
    [{ ...held, text: 'x' }],
  ],
  [
    'submit',
    (tasks) => tasks.submit(JOB_ID, TASK_ID, { ...held, version: 2, summary: 'x' }),
    'submitTask',
    [{ ...held, version: 2, summary: 'x' }],
  ],
  [
    'block',
    (tasks) => tasks.block(JOB_ID, TASK_ID, { ...held, kind: 'external', reason: 'x' }),
    'blockTask',
    [{ ...held, kind: 'external', reason: 'x' }],
  ],
  [
    'fail',
    (tasks) => tasks.fail(JOB_ID, TASK_ID, { ...held, reason: 'x' }),
    'failTask',
    [{ ...held, reason: 'x' }],
  ],
  ['release', (tasks) => tasks.release(JOB_ID, TASK_ID, held), 'releaseTask', [held]],
  [
    'edit',
    (tasks) => tasks.edit(JOB_ID, TASK_ID, { version: 1, title: 'x' }),
    'editTask',
    [{ version: 1, title: 'x' }],
  ],
  [
    'unblock',
    (tasks) => tasks.unblock(JOB_ID, TASK_ID, { version: 1, answer: 'x' }, once),
    'decideTask',
    [{ decision: 'unblock', version: 1, text: 'x' }, 'k1'],
  ],
  [
    'approve',
    (tasks) => tasks.approve(JOB_ID, TASK_ID, { version: 1 }, once),
    'decideTask',
    [{ decision: 'approve', version: 1 }, 'k1'],
  ],
  [
    'reject',
    (tasks) => tasks.reject(JOB_ID, TASK_ID, { version: 1, text: 'x' }, once),
    'decideTask',
    [{ decision: 'reject', version: 1, text: 'x' }, 'k1'],
  ],
  [
    'cancel',
    (tasks) => tasks.cancel(JOB_ID, TASK_ID, { version: 1, dependents: 'hold' }, once),
    'cancelTask',
    [{ version: 1, dependents: 'hold' }, 'k1'],
  ],
  [
    'reopen',
    (tasks) => tasks.reopen(JOB_ID, TASK_ID, { version: 1, reason: 'x' }, once),
    'reopenTask',
    [{ version: 1, reason: 'x', action: 'reopen' }, 'k1'],
  ],
  [
    'retry',
    (tasks) => tasks.retry(JOB_ID, TASK_ID, { version: 1 }, once),
    'reopenTask',
    [{ version: 1, action: 'retry' }, 'k1'],
  ],
  [
    'attempts',
    (tasks) => tasks.attempts(JOB_ID, TASK_ID, { cursor: '5', limit: 2 }),
    'listAttempts',
    [{ cursor: '5', limit: 2 }],
  ],
  ['why', (tasks) => tasks.why(JOB_ID, TASK_ID), 'explainTask', []],
])('%s sends what it takes and parses the answer', async (_, call, method, args) => {
  await using app = await openApp();
  await call(clientOf(app).tasks);
  expect(app.fake.calls).toMatchObject([{ method, args: [JOB_ID, TASK_ID, ...args] }]);
});
