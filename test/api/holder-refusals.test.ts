import { newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { openRealApp, type RealApp } from './open-real-app.ts';
import { NO_JOB_ID } from './records.ts';

/** What each call of a holder needs besides the token. */
const CALLS: Record<string, Record<string, unknown>> = {
  heartbeat: {},
  note: { text: 'half done' },
  submit: { version: 2, summary: 'done' },
  block: { kind: 'needs_input', reason: 'no glossary' },
  fail: { reason: 'no idea' },
  release: {},
};

/** A job with two tasks for outside, both held: `a` by bob at version 2, `b` by eve. */
async function open() {
  const app = await openRealApp();
  const { jobId, ids } = await app.board.job([
    { key: 'a', title: 'A', executor: 'external' },
    { key: 'b', title: 'B', executor: 'external' },
  ]);
  const [a, b] = [ids.a ?? '', ids.b ?? ''];
  const claim = async (taskId: string, owner: string) => {
    const { status, body } = await app.send('POST', `/${jobId}/tasks/claim`, { taskId, owner });
    expect(status).toBe(200);
    return String(body.claimToken);
  };
  const call = (action: string, body: object, taskId = a, job = jobId) =>
    app.send('POST', `/${job}/tasks/${taskId}/${action}`, { ...CALLS[action], ...body });
  const bob = await claim(a, 'bob');
  const eve = await claim(b, 'eve');
  return { app, jobId, a, b, bob, eve, claim, call, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** Everything that a refused call must leave as it was. */
async function stateOf({ board }: RealApp, jobId: string) {
  const { tasks, counts, asOf } = await board.boards.page(jobId, { after: 0, limit: 10, full: true });
  return { tasks, counts, asOf };
}

describe.each(Object.keys(CALLS))('%s is refused, in this order, for', (action) => {
  it('its shape, before a job that is not there', async () => {
    await using at = await open();
    const before = await stateOf(at.app, at.jobId);
    expect(await at.call(action, { claimToken: at.bob, colour: 'red' }, at.a, NO_JOB_ID)).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', detail: expect.stringContaining('colour'), retry: 'after_fix' },
    });
    expect(await stateOf(at.app, at.jobId)).toEqual(before);
  });

  it('a job that is not there, before a task and a token that are not', async () => {
    await using at = await open();
    expect(await at.call(action, {}, 't_zzzzzzzz', NO_JOB_ID)).toMatchObject({
      status: 404,
      body: { code: 'not_found', detail: expect.stringContaining(NO_JOB_ID) },
    });
  });

  it('a task that is not there, before a missing token; near IDs are a hint only', async () => {
    await using at = await open();
    const before = await stateOf(at.app, at.jobId);
    const mistyped = at.a.slice(0, -1);
    expect(await at.call(action, {}, mistyped)).toMatchObject({
      status: 404,
      body: { code: 'not_found', nearest: [at.a] },
    });
    expect(await stateOf(at.app, at.jobId)).toEqual(before);
  });

  it('a missing token, before a stale version', async () => {
    await using at = await open();
    expect(await at.call(action, { version: 1 })).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', path: 'claimToken' },
    });
  });

  it("another task's token, before a request that was carried out", async () => {
    await using at = await open();
    await at.call('note', { claimToken: at.bob, requestId: 'r1' });
    const before = await stateOf(at.app, at.jobId);
    for (const claimToken of [at.eve, `1-${newSecret()}`, 'nonsense', '9-x']) {
      expect(await at.call(action, { claimToken, requestId: 'r1', version: 1 })).toMatchObject({
        status: 403,
        body: { code: 'not_owner', retry: 'never', current: { status: 'in_progress', version: 2 } },
      });
    }
    expect(await stateOf(at.app, at.jobId)).toEqual(before);
  });

  it.skipIf(action === 'heartbeat')(
    'nothing when the request was carried out before: it changes nothing and answers `already`',
    async () => {
      await using at = await open();
      const done = await at.call(action, { claimToken: at.bob, requestId: 'r1' });
      expect(done.status).toBe(200);
      const before = await stateOf(at.app, at.jobId);
      const repeat = await at.call(action, { claimToken: at.bob, requestId: 'r1', version: 1 });
      expect(repeat).toMatchObject({ status: 200, body: { id: at.a, already: true } });
      expect(await stateOf(at.app, at.jobId)).toEqual(before);
    },
  );

  it('an attempt that is over, before a stale version: claimed again by the same owner, or ended', async () => {
    await using at = await open();
    await at.call('release', { claimToken: at.bob });
    const again = await at.claim(at.a, 'bob');
    const lost = { status: 409, body: { code: 'lease_lost', retry: 'never' } };
    expect(await at.call(action, { claimToken: at.bob, version: 1 })).toMatchObject(lost);
    await at.call('submit', { claimToken: again, version: 4 });
    const before = await stateOf(at.app, at.jobId);
    expect(await at.call(action, { claimToken: again, version: 1 })).toMatchObject(lost);
    expect(await stateOf(at.app, at.jobId)).toEqual(before);
  });

  it('a job that is being cancelled, before a stale version', async () => {
    await using at = await open();
    await at.app.board.boards.cancelJob(at.jobId, 'user:ann', 'enough');
    const before = await stateOf(at.app, at.jobId);
    expect(await at.call(action, { claimToken: at.bob, version: 1 })).toMatchObject({
      status: 409,
      body: { code: 'terminal', detail: expect.stringContaining('being cancelled') },
    });
    expect(await stateOf(at.app, at.jobId)).toEqual(before);
  });

  it('a stale version, with the task as it is now', async () => {
    await using at = await open();
    const edited = await at.app.send('PATCH', `/${at.jobId}/tasks/${at.a}`, { version: 2, title: 'Other' });
    expect(edited).toMatchObject({ status: 200, body: { version: 3, title: 'Other' } });
    const before = await stateOf(at.app, at.jobId);
    expect(await at.call(action, { claimToken: at.bob, version: 2 })).toMatchObject({
      status: 409,
      body: {
        code: 'stale_version',
        retry: 'after_refresh',
        current: { taskId: at.a, status: 'in_progress', version: 3, owner: { kind: 'external', id: 'bob' } },
      },
    });
    expect(await stateOf(at.app, at.jobId)).toEqual(before);
  });

  it('nothing at the current version with the current token', async () => {
    await using at = await open();
    expect((await at.call(action, { claimToken: at.bob, version: 2 })).status).toBe(200);
  });
});

it('a submit that is stale is told what changed since', async () => {
  await using at = await open();
  await at.app.send('PATCH', `/${at.jobId}/tasks/${at.a}`, { version: 2, title: 'Other', priority: 0 });
  expect((await at.call('submit', { claimToken: at.bob, version: 2 })).body).toMatchObject({
    code: 'stale_version',
    changedSince: [
      { field: 'title', version: 3, by: 'admin' },
      { field: 'priority', version: 3, by: 'admin' },
    ],
  });
});

it('a block on an own dependent, on itself or on nothing is refused after the token', async () => {
  await using at = await open();
  await at.app.send('POST', `/${at.jobId}/tasks`, {
    tasks: [{ key: 'c', title: 'C', executor: 'external', dependsOn: ['a'] }],
  });
  const { tasks } = await at.app.board.boards.page(at.jobId, { after: 2, limit: 1 });
  const c = tasks[0]?.id ?? '';
  const blockOn = (on: string, claimToken: string) =>
    at.call('block', { claimToken, kind: 'dependency', reason: 'first', on });
  expect((await blockOn(c, at.eve)).body).toMatchObject({ code: 'not_owner' });
  expect((await blockOn(c, at.bob)).body).toMatchObject({ code: 'dependency_cycle' });
  expect((await blockOn(at.a, at.bob)).body).toMatchObject({ code: 'dependency_cycle' });
  expect((await blockOn('t_zzzzzzzz', at.bob)).body).toMatchObject({ code: 'unknown_dependency' });
  expect((await blockOn(at.b, at.bob)).body).toMatchObject({
    status: 'pending',
    readiness: { state: 'waiting', on: [at.b] },
  });
});

it('evidence is asked for after token and version, and names what is missing', async () => {
  await using app = await openRealApp();
  const { jobId, ids } = await app.board.job([
    {
      key: 'a',
      title: 'A',
      executor: 'external',
      policy: 'evidence',
      acceptance: [{ id: 'links', text: 'All links work' }],
    },
  ]);
  const a = ids.a ?? '';
  const claimed = await app.send('POST', `/${jobId}/tasks/claim`, { taskId: a, owner: 'bob' });
  const submit = (body: object) =>
    app.send('POST', `/${jobId}/tasks/${a}/submit`, { version: 2, summary: 'done', ...body });
  const { claimToken } = claimed.body;
  expect((await submit({ claimToken: 'other' })).body).toMatchObject({ code: 'not_owner' });
  expect((await submit({ claimToken, version: 1 })).body).toMatchObject({ code: 'stale_version' });
  expect(await submit({ claimToken })).toMatchObject({
    status: 422,
    body: { code: 'evidence_required', missing: [{ acceptanceId: 'links', text: 'All links work' }] },
  });
  const evidence = (item: object) => submit({ claimToken, evidence: [item] });
  expect((await evidence({ acceptanceId: 'other', kind: 'statement', text: 'x' })).body).toMatchObject({
    code: 'invalid_argument',
    allowed: ['links'],
  });
  expect((await evidence({ acceptanceId: 'links', kind: 'artifact', ref: 'x' })).body).toMatchObject({
    code: 'invalid_argument',
  });
  const statement = { acceptanceId: 'links', kind: 'statement', text: 'checked all 12' };
  expect(await submit({ claimToken, artifacts: ['report.md'], evidence: [statement] })).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', reference: 'report.md' },
  });
  expect((await evidence(statement)).body).toMatchObject({ status: 'completed', evidence: [statement] });
});
