import { Claim } from '@crewboard/contracts';
import { describe, expect, inject, it, test } from 'vitest';
import { openLocalStack } from '../support/local-stack.ts';
import { openOutsideJob, refusalOf } from './support/outside.ts';

const ROUNDS = inject('redisKind') === 'embedded' ? 20 : 200;
const CLAIMERS = 20;

test(`of ${CLAIMERS} claims of one task at once one wins and the others are told who, ${ROUNDS} times`, async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'Wanted by many' }]);
  const { stack, jobId } = job;
  const taskId = job.id('a');
  const wins = new Set<string>();
  for (let round = 1; round <= ROUNDS; round++) {
    const answers = await Promise.all(
      Array.from({ length: CLAIMERS }, async (_, i) => {
        const owner = `claimer-${(i + round) % CLAIMERS}`;
        const answer = await stack.call('POST', `/v1/jobs/${jobId}/tasks/claim`, { taskId, owner });
        return { owner, ...answer };
      }),
    );
    const [winner, ...more] = answers.filter(({ status }) => status === 200);
    if (winner === undefined || more.length > 0)
      throw new Error(`round ${round}: ${answers.map(({ text }) => text).join('\n')}`);
    const holder = { kind: 'external', id: winner.owner };
    for (const loser of answers.filter((answer) => answer !== winner)) {
      expect(loser).toMatchObject({
        status: 409,
        json: { code: 'already_claimed', current: { owner: holder, attempt: round } },
      });
      expect(loser.text).toContain(`held by ${winner.owner}`);
    }
    wins.add(winner.owner);
    const { claimToken, attempt } = Claim.parse(winner.json);
    expect(attempt).toBe(round);
    await stack.client.tasks.release(jobId, taskId, { claimToken });
  }
  expect(wins.size).toBeGreaterThan(1);
  expect((await stack.client.jobs.get(jobId)).counts).toMatchObject({ total: 1, ready: 1 });
}, 180_000);

describe('a claim', () => {
  it('answers the task, its token and lease, what it builds on, and how earlier attempts ended', async () => {
    await using job = await openOutsideJob([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B', dependsOn: ['a'], instructions: 'Use A', input: { page: 7 } },
    ]);
    const { stack, jobId } = job;
    expect(await refusalOf(job.claim('b'))).toMatchObject({
      code: 'not_ready',
      extras: { current: { status: 'pending' } },
    });
    await job.complete('a', 'the answer is 42');
    const first = await job.claim('b', 'bob');
    await stack.client.tasks.release(jobId, job.id('b'), { claimToken: first.claimToken, reason: 'home' });
    const claimedAt = Date.now();
    const { task, ...claim } = await job.claim('b', 'carla');
    expect(task).toMatchObject({
      id: job.id('b'),
      status: 'in_progress',
      instructions: 'Use A',
      input: { page: 7 },
      owner: { kind: 'external', id: 'carla' },
    });
    expect(claim).toMatchObject({
      attempt: 2,
      dependencies: [
        { taskId: job.id('a'), title: 'A', status: 'completed', summary: 'the answer is 42', artifacts: [] },
      ],
      moreDependencies: 0,
      earlierAttempts: [{ attempt: 1, outcome: 'released', reason: 'home' }],
    });
    expect(claim.claimToken).not.toBe(first.claimToken);
    const leaseMs = Date.parse(claim.leaseUntil ?? '') - claimedAt;
    expect(Math.abs(leaseMs - 900_000)).toBeLessThan(10_000);
  });

  it('without an ID takes the next task for outside, the most urgent first, and none of the agents’', async () => {
    await using job = await openOutsideJob([
      { key: 'agent', title: 'Agent', executor: 'agent', priority: 0 },
      { key: 'late', title: 'Late', priority: 3 },
      { key: 'human', title: 'Human', executor: 'human' },
      { key: 'soon', title: 'Soon', priority: 1 },
    ]);
    const next = () => job.stack.client.tasks.claim(job.jobId, { owner: 'bob' });
    const titles = [];
    for (let i = 0; i < 3; i++) titles.push((await next()).task?.title);
    expect(titles).toEqual(['Soon', 'Human', 'Late']);
    expect(await next()).toEqual({
      task: null,
      counts: expect.objectContaining({ total: 4, ready: 1, in_progress: 3 }),
    });
    expect((await job.claim('agent')).task.title).toBe('Agent');
  });

  it('by labels takes the first ready task with all of them, of any executor', async () => {
    await using job = await openOutsideJob([
      { key: 'x', title: 'X', labels: ['red'] },
      { key: 'y', title: 'Y', labels: ['red', 'big'], dependsOn: ['x'] },
      { key: 'z', title: 'Z', labels: ['big', 'red'], executor: 'agent' },
    ]);
    const withLabels = (labels: string[]) =>
      job.stack.client.tasks.claim(job.jobId, { owner: 'bob', labels });
    expect((await withLabels(['red', 'big'])).task?.title).toBe('Z');
    expect((await withLabels(['red', 'big'])).task).toBeNull();
    expect((await withLabels(['red'])).task?.title).toBe('X');
    expect((await withLabels(['blue'])).task).toBeNull();
  });

  it('by labels gives each of many claimers another task until there is none', async () => {
    const tasks = Array.from({ length: 30 }, (_, i) => ({ title: `Task ${i}`, labels: ['many'] }));
    await using job = await openOutsideJob(tasks);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        job.stack.client.tasks.claim(job.jobId, { owner: `claimer-${i}`, labels: ['many'] }),
      ),
    );
    const taken = answers.flatMap(({ task }) => (task === null ? [] : [task.id]));
    expect(taken).toHaveLength(30);
    expect(new Set(taken).size).toBe(30);
  });

  it.each([
    ['by ID', (id: string) => ({ taskId: id })],
    ['of the next', () => ({})],
    ['by labels', () => ({ labels: ['x'] })],
  ])('%s, repeated under its request ID, answers the same live token, also at once', async (_, what) => {
    await using job = await openOutsideJob([
      { key: 'a', title: 'A', labels: ['x'] },
      { key: 'b', title: 'B', labels: ['x'] },
    ]);
    const body = { ...what(job.id('a')), owner: 'bob', requestId: 'once' };
    const claim = () => job.stack.client.tasks.claim(job.jobId, body);
    const answers = await Promise.all([claim(), claim(), claim()]);
    await job.stack.restartApi();
    answers.push(await job.stack.client.tasks.claim(job.jobId, body));
    const tokens = answers.map((answer) => Claim.parse(answer).claimToken);
    expect(new Set(tokens).size).toBe(1);
    expect((await job.stack.client.jobs.get(job.jobId)).counts).toMatchObject({ in_progress: 1, ready: 1 });
    const other = await job.stack.client.tasks.claim(job.jobId, { owner: 'eve', requestId: 'once' });
    expect(other.task?.id).toBe(job.id('b'));
  });

  it('is for people and programs outside only, and never of the lead’s own task', async () => {
    await using job = await openOutsideJob([{ key: 'a', title: 'A' }], { body: { goal: 'Lead this' } });
    const { stack, jobId } = job;
    for (const kind of ['lead', 'sub-agent'] as const) {
      const inside = stack.client.tasks.claim(jobId, { taskId: job.id('a'), owner: { kind, id: 'x' } });
      expect(await refusalOf(inside)).toMatchObject({ code: 'forbidden' });
    }
    const lead = (await job.boards.job(jobId)).lead ?? '';
    const claims = stack.client.tasks.claim(jobId, { taskId: lead, owner: 'bob' });
    expect(await refusalOf(claims)).toMatchObject({ code: 'forbidden' });
    expect((await job.task('a')).status).toBe('pending');
  });

  it('of an unknown task names near IDs and claims none of them', async () => {
    await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
    const id = job.id('a');
    const mistyped = `${id.slice(0, 3)}${id.slice(4, 5)}${id.slice(3, 4)}${id.slice(5)}`;
    const wanted = mistyped === id ? `${id.slice(0, -1)}${id.endsWith('z') ? 'y' : 'z'}` : mistyped;
    const claims = job.stack.client.tasks.claim(job.jobId, { taskId: wanted, owner: 'bob' });
    expect(await refusalOf(claims)).toMatchObject({ code: 'not_found', extras: { nearest: [id] } });
    expect((await job.task('a')).attempt).toBe(0);
  });

  it('of a job that is paused, over or serial is refused with the reason', async () => {
    await using job = await openOutsideJob(
      [
        { key: 'a', title: 'A' },
        { key: 'b', title: 'B' },
      ],
      {
        body: { allowParallelInProgress: false },
      },
    );
    const { stack, jobId, boards } = job;
    const claims = [{}, { labels: ['x'] }, { taskId: job.id('b') }].map((what) => ({
      ...what,
      owner: 'bob',
    }));
    const refusals = async () =>
      Promise.all(
        claims.map(async (body) => {
          const answer = await stack.call('POST', `/v1/jobs/${jobId}/tasks/claim`, body);
          return answer.status === 200 ? 'claimed' : (answer.json as { code: string }).code;
        }),
      );
    await boards.pauseJob(jobId, { kind: 'user', id: 'ann' }, 'user', 'lunch');
    expect(await refusals()).toEqual(['board_paused', 'board_paused', 'board_paused']);
    await boards.resumeJob(jobId, { kind: 'user', id: 'ann' });
    const { claimToken } = await job.claim('a');
    expect(await refusals()).toEqual(['parallel_in_progress', 'claimed', 'parallel_in_progress']);
    await stack.client.tasks.release(jobId, job.id('a'), { claimToken });
    await stack.client.jobs.cancel(jobId);
    await expect.poll(async () => (await stack.client.jobs.get(jobId)).status).toBe('cancelled');
    expect(await refusals()).toEqual(['terminal', 'terminal', 'terminal']);
  });
});

describe('a lease', () => {
  it('runs out when its holder is gone: the task can be claimed again, and the old token is refused', async () => {
    await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
    const gone = await job.claim('a', 'gone', 300);
    await job.stack.restartApi();
    await expect.poll(async () => (await job.task('a')).status, { timeout: 20_000 }).toBe('pending');
    const next = await job.claim('a', 'next');
    expect(next.earlierAttempts).toMatchObject([{ attempt: 1, outcome: 'expired' }]);
    const late = job.stack.client.tasks.submit(job.jobId, job.id('a'), {
      claimToken: gone.claimToken,
      version: gone.task.version,
      summary: 'too late',
    });
    expect(await refusalOf(late)).toMatchObject({
      code: 'lease_lost',
      extras: { current: { owner: { id: 'next' } } },
    });
  });

  it('is kept by heartbeats, each as long as the claim’s unless it says otherwise', async () => {
    await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
    const { client } = job.stack;
    const { claimToken, leaseUntil, task } = await job.claim('a', 'bob', 60_000);
    const beat = async (leaseMs?: number) =>
      client.tasks.heartbeat(job.jobId, task.id, { claimToken, ...(leaseMs ? { leaseMs } : {}) });
    const first = await beat();
    expect(first).toMatchObject({ version: task.version, notices: [] });
    const later = Date.parse(first.leaseUntil ?? '') - Date.parse(leaseUntil ?? '');
    expect(later).toBeGreaterThanOrEqual(0);
    expect(later).toBeLessThan(20_000);
    const longer = Date.parse((await beat(3_600_000)).leaseUntil ?? '') - Date.parse(first.leaseUntil ?? '');
    expect(longer).toBeGreaterThan(3_500_000);
    expect((await job.task('a')).version).toBe(task.version);
  });

  it('is none for people: their claims last, and a heartbeat leaves them as they are', async () => {
    await using job = await openOutsideJob([{ key: 'a', title: 'A', executor: 'human' }]);
    const { client } = job.stack;
    const owner = { kind: 'human' as const, id: 'ann' };
    const withLease = client.tasks.claim(job.jobId, { owner, leaseMs: 1000 });
    expect(await refusalOf(withLease)).toMatchObject({
      code: 'invalid_argument',
      extras: { path: 'leaseMs' },
    });
    const claim = await job.claim('a', owner);
    expect(claim.leaseUntil).toBeUndefined();
    const { claimToken } = claim;
    const beat = await client.tasks.heartbeat(job.jobId, job.id('a'), { claimToken });
    expect(beat).toEqual({ version: claim.task.version, notices: [] });
    expect(await job.task('a')).toEqual(claim.task);
  });
});

test('a holder fails a task as often as it may, and the reasons reach the next attempt', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A', maxAttempts: 2 }, { title: 'Other' }]);
  const { client } = job.stack;
  const fail = async (reason: string, more: object = {}) => {
    const { claimToken, earlierAttempts } = await job.claim('a');
    const task = await client.tasks.fail(job.jobId, job.id('a'), { claimToken, reason, ...more });
    return { task, earlierAttempts };
  };
  const first = await fail('no idea');
  expect(first.task).toMatchObject({ status: 'pending', failures: 1, readiness: { state: 'scheduled' } });
  await expect.poll(async () => (await job.task('a')).readiness?.state, { timeout: 20_000 }).toBe('ready');
  const second = await fail('out of time', { class: 'timeout' });
  expect(second.earlierAttempts).toEqual([
    { attempt: 1, outcome: 'failed', class: 'model', reason: 'no idea' },
  ]);
  expect(second.task).toMatchObject({
    status: 'failed',
    failure: { class: 'timeout', reason: 'out of time' },
  });
  expect(await client.tasks.attempts(job.jobId, job.id('a'), { limit: 1 })).toMatchObject({
    attempts: [{ attempt: 1, outcome: 'failed', owner: { kind: 'external', id: 'bob' } }],
    nextCursor: 'a1',
  });
  const rest = await client.tasks.attempts(job.jobId, job.id('a'), { cursor: 'a1' });
  expect(rest).toMatchObject({ attempts: [{ attempt: 2, class: 'timeout' }] });
  expect(rest.nextCursor).toBeUndefined();
});

test('what a model would only refuse again is not tried again', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
  const { claimToken } = await job.claim('a');
  const task = await job.stack.client.tasks.fail(job.jobId, job.id('a'), {
    claimToken,
    reason: 'I can not help with that',
    class: 'refused',
  });
  expect(task).toMatchObject({ status: 'failed', failures: 1, failure: { class: 'refused' } });
});

test('a note is an event with its text, and shows progress on the task', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
  const { client } = job.stack;
  const { claimToken, task } = await job.claim('a');
  const noted = { claimToken, text: 'half of it', progress: '5/10', requestId: 'n1' };
  const first = await client.tasks.note(job.jobId, task.id, noted);
  expect(first).toMatchObject({ version: task.version, progress: '5/10' });
  expect(first.already).toBeUndefined();
  expect((await client.tasks.note(job.jobId, task.id, noted)).already).toBe(true);
  const notes = (await client.jobs.listEvents(job.jobId)).events.filter(({ type }) => type === 'task.noted');
  expect(notes).toMatchObject([
    { by: { kind: 'external', id: 'bob' }, data: { text: 'half of it', progress: '5/10' } },
  ]);
});

test('the third error of a kind in a row brings advice, and a success ends the row', async () => {
  await using job = await openOutsideJob([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
  ]);
  const { client } = job.stack;
  const { claimToken, task } = await job.claim('a');
  const stale = () =>
    refusalOf(client.tasks.submit(job.jobId, task.id, { claimToken, version: 1, summary: 'x' }));
  const advice = async () => (await stale()).extras.loopGuard;
  expect([await advice(), await advice()]).toEqual([undefined, undefined]);
  expect(await advice()).toContain('stale_version 3 times in a row');
  expect(await stale()).toMatchObject({
    code: 'stale_version',
    retry: 'after_refresh',
    extras: { current: { version: task.version }, changedSince: [{ field: 'status' }] },
  });
  // Of another code, so a row of its own; then a success.
  expect((await refusalOf(job.claim('b', 'bob'))).extras.loopGuard).toBeUndefined();
  expect(await advice()).toBeUndefined();
  await client.tasks.heartbeat(job.jobId, task.id, { claimToken });
  expect([await advice(), await advice()]).toEqual([undefined, undefined]);
  // Another owner has a row of its own.
  expect((await refusalOf(job.claim('b', 'eve'))).extras.loopGuard).toBeUndefined();
});

test('a job for holders outside needs no model; one agent task does, from the start or later', async () => {
  await using stack = await openLocalStack({
    worker: false,
    variables: { CREWBOARD_SIMULATED_MODEL_URL: '' },
  });
  const { jobs, tasks } = stack.client;
  const outside = [
    { title: 'A', executor: 'external' as const },
    { title: 'B', executor: 'human' as const },
  ];
  expect(await refusalOf(jobs.submit({ tasks: [...outside, { title: 'C' }] }))).toMatchObject({
    code: 'unavailable',
  });
  // Waiting does not help: somebody has to set a model up.
  expect(await refusalOf(jobs.submit({ goal: 'Lead', tasks: outside }))).toMatchObject({
    code: 'unavailable',
    retry: 'never',
  });
  const { id } = await jobs.submit({ tasks: outside });
  expect((await jobs.get(id)).simulated).toBe(false);
  expect(await refusalOf(tasks.add(id, [{ title: 'C' }]))).toMatchObject({ code: 'unavailable' });
  const [first] = (await tasks.list(id)).tasks;
  const edit = tasks.edit(id, first?.id ?? '', { version: 1, executor: 'agent' });
  expect(await refusalOf(edit)).toMatchObject({ code: 'unavailable' });
  for (const owner of ['bob', { kind: 'human' as const, id: 'ann' }]) {
    const { claimToken, task } = Claim.parse(await tasks.claim(id, { owner }));
    await tasks.submit(id, task.id, { claimToken, version: task.version, summary: 'done' });
  }
  expect((await jobs.get(id)).status).toBe('succeeded');
});
