import { newSecret } from '@crewboard/contracts';
import { describe, expect, it, test } from 'vitest';
import { openOutsideJob, refusalOf } from './support/outside.ts';

test('the answer to a block reaches the next attempt', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
  const { tasks } = job.stack.client;
  const { claimToken } = await job.claim('a');
  const blocked = await tasks.block(job.jobId, job.id('a'), {
    claimToken,
    kind: 'needs_input',
    reason: 'which glossary?',
    question: 'a.md or b.md?',
  });
  expect(blocked).toMatchObject({
    status: 'blocked',
    block: { kind: 'needs_input', reason: 'which glossary?', question: 'a.md or b.md?' },
  });
  expect(await refusalOf(job.claim('a'))).toMatchObject({ code: 'invalid_transition' });
  const { version } = blocked;
  const unblock = { version, answer: 'b.md' };
  expect(await refusalOf(tasks.unblock(job.jobId, job.id('a'), { version: version - 1 }))).toMatchObject({
    code: 'stale_version',
    extras: { changedSince: [{ field: 'status', version }] },
  });
  const once = { idempotencyKey: 'answer-1' };
  expect(await tasks.unblock(job.jobId, job.id('a'), unblock, once)).toMatchObject({
    status: 'pending',
    readiness: { state: 'ready' },
    version: version + 1,
  });
  expect((await tasks.unblock(job.jobId, job.id('a'), unblock, once)).version).toBe(version + 1);
  const other = tasks.unblock(job.jobId, job.id('a'), { version, answer: 'a.md' }, once);
  expect(await refusalOf(other)).toMatchObject({ code: 'idempotency_mismatch' });
  expect((await job.claim('a')).earlierAttempts).toEqual([
    { attempt: 1, outcome: 'blocked', reason: 'which glossary?', answer: 'b.md' },
  ]);
});

test('a block on another task waits for it and goes on with its result', async () => {
  await using job = await openOutsideJob([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B' },
  ]);
  const { claimToken } = await job.claim('a');
  const waiting = await job.stack.client.tasks.block(job.jobId, job.id('a'), {
    claimToken,
    kind: 'dependency',
    reason: 'needs B first',
    on: job.id('b'),
  });
  expect(waiting).toMatchObject({ status: 'pending', readiness: { state: 'waiting', on: [job.id('b')] } });
  await job.complete('b', 'B says 7');
  expect(await job.claim('a')).toMatchObject({
    dependencies: [{ taskId: job.id('b'), summary: 'B says 7' }],
    earlierAttempts: [{ attempt: 1, outcome: 'blocked', reason: 'needs B first' }],
  });
});

describe('a review', () => {
  async function inReview() {
    const job = await openOutsideJob([
      { key: 'a', title: 'A', policy: 'approved' },
      { key: 'b', title: 'B', dependsOn: ['a'] },
    ]);
    const submit = async () => {
      const { claimToken, task, earlierAttempts } = await job.claim('a');
      const submitted = await job.stack.client.tasks.submit(job.jobId, task.id, {
        claimToken,
        version: task.version,
        summary: 'short',
      });
      expect(submitted).toMatchObject({ status: 'in_review', result: { summary: 'short' } });
      return { version: submitted.version, earlierAttempts };
    };
    return { ...job, submit, [Symbol.asyncDispose]: () => job[Symbol.asyncDispose]() };
  }

  it('that is rejected comes back with the feedback, and once approved completes the task', async () => {
    await using job = await inReview();
    const { tasks } = job.stack.client;
    const { version } = await job.submit();
    const claims = tasks.claim(job.jobId, { owner: 'eve', taskId: job.id('a') });
    expect(await refusalOf(claims)).toMatchObject({ code: 'invalid_transition' });
    const rejected = await tasks.reject(job.jobId, job.id('a'), { version, text: 'longer' });
    expect(rejected).toMatchObject({ status: 'pending', failures: 0 });
    expect(rejected.result).toBeUndefined();
    const again = await job.submit();
    expect(again.earlierAttempts).toMatchObject([{ attempt: 1, outcome: 'rejected', answer: 'longer' }]);
    expect((await job.task('b')).readiness).toEqual({ state: 'waiting', on: [job.id('a')] });
    const approved = await tasks.approve(job.jobId, job.id('a'), { version: again.version });
    expect(approved.status).toBe('completed');
    expect((await job.task('b')).readiness).toEqual({ state: 'ready' });
    const twice = tasks.approve(job.jobId, job.id('a'), { version: approved.version });
    expect(await refusalOf(twice)).toMatchObject({ code: 'terminal' });
  });

  it('is what approve is for: a task in progress or blocked has none', async () => {
    await using job = await inReview();
    const { tasks } = job.stack.client;
    const { claimToken, task } = await job.claim('a');
    const approve = (version: number) => refusalOf(tasks.approve(job.jobId, task.id, { version }));
    expect(await approve(task.version)).toMatchObject({
      code: 'invalid_transition',
      extras: { allowed: expect.arrayContaining(['cancel']) },
    });
    const call = { claimToken, kind: 'needs_decision' as const, reason: 'x' };
    const { version } = await tasks.block(job.jobId, task.id, call);
    expect(await approve(version)).toMatchObject({ code: 'invalid_transition' });
  });
});

test('a proposal counts for nothing until it is approved, and never when it is rejected', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
  const { client } = job.stack;
  const { claimToken } = await job.claim('a');
  const hold = { jobId: job.jobId, taskId: job.id('a'), token: claimToken };
  const by = { kind: 'external' as const, id: 'bob' };
  const propose = (title: string) =>
    job.boards.propose(hold, newSecret(), { title, executor: 'external' }, by, 3);
  const [good, bad] = [await propose('Good'), await propose('Bad')];
  expect((await client.jobs.get(job.jobId)).counts.total).toBe(1);
  const read = await client.tasks.get(job.jobId, good.taskId);
  expect(read.readiness).toEqual({ state: 'held', cause: 'proposal' });
  expect((await client.tasks.why(job.jobId, good.taskId)).text).toContain('is a proposal');
  const approved = await client.tasks.approve(job.jobId, good.taskId, { version: read.version });
  expect(approved).toMatchObject({ status: 'pending', readiness: { state: 'ready' } });
  const rejected = await client.tasks.reject(job.jobId, bad.taskId, { version: 1, text: 'no' });
  expect(rejected.status).toBe('cancelled');
  expect((await client.jobs.get(job.jobId)).counts).toMatchObject({ total: 2, cancelled: 0 });
  const reopened = client.tasks.reopen(job.jobId, bad.taskId, { version: rejected.version });
  expect(await refusalOf(reopened)).toMatchObject({ code: 'invalid_transition' });
});

test('cancel takes a running task from its holder, and its dependents when asked', async () => {
  await using job = await openOutsideJob([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
    { key: 'c', title: 'C', dependsOn: ['b'] },
    { key: 'd', title: 'D', dependsOn: [{ task: 'a', condition: 'settled' }] },
    { key: 'x', title: 'X' },
    { key: 'y', title: 'Y', dependsOn: ['x'] },
  ]);
  const { tasks } = job.stack.client;
  const { claimToken, task } = await job.claim('a');
  const cancelled = await tasks.cancel(job.jobId, task.id, {
    version: task.version,
    reason: 'not needed',
    dependents: 'cancel',
  });
  expect(cancelled.status).toBe('cancelled');
  expect(await refusalOf(tasks.heartbeat(job.jobId, task.id, { claimToken }))).toMatchObject({
    code: 'lease_lost',
  });
  const statuses = async () =>
    Promise.all(['b', 'c', 'd', 'y'].map(async (key) => (await job.task(key)).status));
  await expect.poll(statuses).toEqual(['cancelled', 'cancelled', 'pending', 'pending']);
  await tasks.cancel(job.jobId, job.id('x'), { version: 1 });
  expect((await job.task('y')).readiness).toEqual({ state: 'unreachable', because: [job.id('x')] });
  const again = tasks.cancel(job.jobId, job.id('x'), { version: 2 });
  expect(await refusalOf(again)).toMatchObject({ code: 'terminal' });
});

test('reopening a task of an ended job opens the job, which is looked after again and ends again', async () => {
  await using job = await openOutsideJob([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
  ]);
  const { client } = job.stack;
  await job.complete('a');
  await job.complete('b');
  expect((await client.jobs.get(job.jobId)).status).toBe('succeeded');
  await expect.poll(() => job.boards.index.liveJobs(), { timeout: 20_000 }).not.toContain(job.jobId);
  const late = client.tasks.edit(job.jobId, job.id('a'), { version: 3, title: 'Late' });
  expect(await refusalOf(late)).toMatchObject({ code: 'terminal' });
  expect(await refusalOf(job.claim('a'))).toMatchObject({ code: 'terminal' });

  const { version } = await job.task('a');
  const once = { idempotencyKey: 'again' };
  const body = { version, reason: 'the source has changed' };
  const reopened = await client.tasks.reopen(job.jobId, job.id('a'), body, once);
  expect(reopened).toMatchObject({ status: 'pending', failures: 0, startedDependents: [job.id('b')] });
  expect(reopened.result).toBeUndefined();
  expect((await client.tasks.reopen(job.jobId, job.id('a'), body, once)).version).toBe(reopened.version);
  const other = client.tasks.reopen(job.jobId, job.id('a'), { ...body, reason: 'other' }, once);
  expect(await refusalOf(other)).toMatchObject({ code: 'idempotency_mismatch' });
  expect(await client.jobs.get(job.jobId)).toMatchObject({
    status: 'running',
    counts: { total: 2, completed: 1, ready: 1 },
  });
  expect(await job.boards.index.liveJobs()).toContain(job.jobId);

  // Swept again: a holder that is gone does not keep it open for ever.
  await job.claim('a', 'gone', 200);
  await expect.poll(async () => (await job.task('a')).status, { timeout: 20_000 }).toBe('pending');
  await job.complete('a');
  expect((await client.jobs.get(job.jobId)).status).toBe('succeeded');
  const types = (await client.jobs.listEvents(job.jobId, { limit: 100 })).events.map(({ type }) => type);
  expect(types.filter((type) => type.startsWith('job.'))).toEqual([
    'job.submitted',
    'job.running',
    'job.succeeded',
    'job.reopened',
    'job.succeeded',
  ]);
});

test('a failed task is retried with its failures at zero; an open one can be neither retried nor reopened', async () => {
  await using job = await openOutsideJob([
    { key: 'a', title: 'A', maxAttempts: 1 },
    { key: 'b', title: 'B' },
  ]);
  const { tasks } = job.stack.client;
  const { claimToken } = await job.claim('a');
  const failed = await tasks.fail(job.jobId, job.id('a'), { claimToken, reason: 'no' });
  expect(failed.status).toBe('failed');
  const retried = await tasks.retry(job.jobId, job.id('a'), { version: failed.version, reason: 'again' });
  expect(retried).toMatchObject({ status: 'pending', failures: 0, startedDependents: [] });
  for (const action of ['retry', 'reopen'] as const) {
    const call = tasks[action](job.jobId, job.id('b'), { version: 1 });
    expect(await refusalOf(call)).toMatchObject({ code: 'invalid_transition' });
  }
});

describe('PATCH', () => {
  it('changes what it names and moves the version; a stale one is told what changed and by whom', async () => {
    await using job = await openOutsideJob([
      { key: 'a', title: 'A', labels: ['x'] },
      { key: 'b', title: 'B' },
    ]);
    const { tasks } = job.stack.client;
    const edited = await tasks.edit(job.jobId, job.id('a'), {
      version: 1,
      title: 'Other',
      instructions: 'Do it',
      dependsOn: ['b'],
    });
    expect(edited).toMatchObject({
      version: 2,
      title: 'Other',
      labels: ['x'],
      key: 'a',
      readiness: { state: 'waiting', on: [job.id('b')] },
    });
    const stale = await job.stack.call('PATCH', `/v1/jobs/${job.jobId}/tasks/${job.id('a')}`, {
      version: 1,
      title: 'Third',
    });
    expect(stale).toMatchObject({
      status: 409,
      json: {
        code: 'stale_version',
        retry: 'after_refresh',
        current: { taskId: job.id('a'), version: 2, status: 'pending' },
        changedSince: expect.arrayContaining([
          expect.objectContaining({ field: 'title', version: 2, by: 'admin' }),
          expect.objectContaining({ field: 'dependsOn', version: 2, by: 'admin' }),
        ]),
      },
    });
    expect((await job.task('a')).title).toBe('Other');
    const cycle = tasks.edit(job.jobId, job.id('b'), { version: 1, dependsOn: [job.id('a')] });
    expect(await refusalOf(cycle)).toMatchObject({ code: 'dependency_cycle' });
  });

  it('of a held task changes all but its dependencies', async () => {
    await using job = await openOutsideJob([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const { tasks } = job.stack.client;
    const { task, claimToken } = await job.claim('a');
    const { version } = task;
    const moved = tasks.edit(job.jobId, task.id, { version, dependsOn: ['b'] });
    expect(await refusalOf(moved)).toMatchObject({ code: 'invalid_transition' });
    await tasks.edit(job.jobId, task.id, { version, policy: 'approved' });
    const submit = (seen: number) =>
      tasks.submit(job.jobId, task.id, { claimToken, version: seen, summary: 'done' });
    expect(await refusalOf(submit(version))).toMatchObject({
      code: 'stale_version',
      extras: { changedSince: [{ field: 'policy' }] },
    });
    expect((await submit(version + 1)).status).toBe('in_review');
  });

  it('refuses a command task without a command, and an executor’s place follows it', async () => {
    await using job = await openOutsideJob([{ key: 'a', title: 'A', executor: 'agent' }]);
    const { tasks } = job.stack.client;
    const command = tasks.edit(job.jobId, job.id('a'), { version: 1, executor: 'command' });
    expect(await refusalOf(command)).toMatchObject({ code: 'invalid_argument' });
    expect((await tasks.claim(job.jobId, { owner: 'bob' })).task).toBeNull();
    await tasks.edit(job.jobId, job.id('a'), { version: 1, executor: 'human' });
    expect((await tasks.claim(job.jobId, { owner: 'bob' })).task?.id).toBe(job.id('a'));
  });
});

test('people may read and retry the lead’s own task and do nothing else to it', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A' }], { body: { goal: 'Lead this' } });
  const { tasks } = job.stack.client;
  const lead = (await job.boards.job(job.jobId)).lead ?? '';
  expect(await tasks.get(job.jobId, lead)).toMatchObject({ number: 0, version: 1 });
  expect((await tasks.why(job.jobId, lead)).text).toMatch(/^the lead /);
  expect((await tasks.attempts(job.jobId, lead)).attempts).toEqual([]);
  const version = 1;
  const calls = [
    tasks.edit(job.jobId, lead, { version, title: 'Mine' }),
    tasks.unblock(job.jobId, lead, { version }),
    tasks.approve(job.jobId, lead, { version }),
    tasks.reject(job.jobId, lead, { version }),
    tasks.cancel(job.jobId, lead, { version, dependents: 'cancel' }),
    tasks.reopen(job.jobId, lead, { version }),
  ];
  for (const call of calls) expect(await refusalOf(call)).toMatchObject({ code: 'forbidden' });
  expect(await refusalOf(tasks.retry(job.jobId, lead, { version }))).toMatchObject({
    code: 'invalid_transition',
  });
  const held = tasks.release(job.jobId, lead, { claimToken: `1-${newSecret()}` });
  expect(await refusalOf(held)).toMatchObject({ code: 'not_owner' });
});
