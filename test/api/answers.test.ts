import type { NewTask } from '@crewboard/contracts';
import { newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { drainOutbox } from '../board/random-history.ts';
import { openRealApp } from './open-real-app.ts';

const RESULT = { summary: 'done', artifacts: [], evidence: [] };

async function open(
  tasks: readonly NewTask[],
  options: { lead?: boolean; allowParallelInProgress?: boolean } = {},
) {
  const app = await openRealApp();
  const { jobId, ids } = await app.board.job(tasks, options);
  const id = (key: string) => ids[key] ?? '';
  const post = (path: string, body: object) => app.send('POST', `/${jobId}${path}`, body);
  return {
    app,
    boards: app.board.boards,
    jobId,
    id,
    post,
    onTask: (key: string, action: string, body: object) => post(`/tasks/${id(key)}/${action}`, body),
    get: (path: string) => app.send('GET', `/${jobId}${path}`),
    /** Claims over HTTP; answers what every call of the holder carries. */
    async claim(key: string, owner: unknown = 'bob') {
      const { body } = await post('/tasks/claim', { taskId: id(key), owner });
      return { claimToken: String(body.claimToken) };
    },
    held: async (key: string) => (await app.board.claim(jobId, id(key))).hold,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe('evidence', () => {
  const task: NewTask = {
    key: 'a',
    title: 'A',
    executor: 'external',
    policy: 'evidence',
    acceptance: [{ id: 'links', text: 'All links work' }],
  };

  it.each([
    ['a statement without a text', { kind: 'statement' }, 'text', 'without a text'],
    ['a statement of spaces', { kind: 'statement', text: ' \n' }, 'text', 'without a text'],
    ['a statement of nothing to see', { kind: 'statement', text: '\u200b' }, 'text', 'without a text'],
    ['an artifact without a name', { kind: 'artifact' }, 'ref', 'must name the artifact'],
    ['a check, which only the harness adds', { kind: 'check', text: 'ran' }, 'kind', 'what the harness adds'],
  ])('that is %s is refused as such', async (_, item, field, reason) => {
    await using at = await open([task]);
    const claim = await at.claim('a');
    const evidence = [{ acceptanceId: 'links', ...item }];
    expect(await at.onTask('a', 'submit', { ...claim, version: 2, summary: 'done', evidence })).toMatchObject(
      {
        status: 400,
        body: {
          code: 'invalid_argument',
          path: `evidence[0].${field}`,
          detail: expect.stringContaining(reason),
        },
      },
    );
    expect((await at.boards.task(at.jobId, at.id('a'))).status).toBe('in_progress');
  });
});

describe('the owner of a task', () => {
  it('is who holds it: nobody in review and after its end, whose attempts tell', async () => {
    await using at = await open([
      { key: 'r', title: 'R', executor: 'external', policy: 'approved' },
      { key: 'f', title: 'F', executor: 'external' },
      { key: 'c', title: 'C', executor: 'external' },
    ]);
    const review = await at.claim('r');
    const submitted = await at.onTask('r', 'submit', { ...review, version: 2, summary: 'done' });
    expect(submitted.body).toMatchObject({ status: 'in_review' });
    expect(submitted.body).not.toHaveProperty('owner');
    const approved = await at.onTask('r', 'approve', { version: 3 });
    const failed = await at.onTask('f', 'fail', { ...(await at.claim('f')), reason: 'no', retryable: false });
    await at.claim('c');
    const cancelled = await at.onTask('c', 'cancel', { version: 2 });
    for (const { body } of [approved, failed, cancelled]) expect(body).not.toHaveProperty('owner');
    for (const key of ['r', 'f', 'c']) {
      const { body } = await at.get(`/tasks/${at.id(key)}/attempts`);
      expect(body.attempts).toMatchObject([{ owner: { kind: 'external', id: 'bob' } }]);
    }
    await drainOutbox(at.boards, at.jobId);
    expect((await at.boards.examine(at.jobId)).findings).toEqual([]);
  });
});

describe('statusReason', () => {
  /** What it says of people; without a worker here it may say something else. */
  const reason = async (at: Awaited<ReturnType<typeof open>>) => {
    const { statusReason = '' } = (await at.get('')).body;
    return String(statusReason).startsWith('people:') ? statusReason : undefined;
  };

  it('says what waits for people and holders outside once nothing else can move the job', async () => {
    await using at = await open([
      { key: 'agent', title: 'Agent' },
      { key: 'late', title: 'Late' },
      { key: 'review', title: 'Review', policy: 'approved' },
      { key: 'human', title: 'Human', executor: 'human' },
      { key: 'external', title: 'External', executor: 'external' },
    ]);
    expect(await reason(at)).toBeUndefined();
    await at.boards.block(await at.held('agent'), newSecret(), { kind: 'needs_input', reason: 'what?' });
    await at.boards.submit(await at.held('review'), newSecret(), 2, RESULT, 'review');
    const late = await at.held('late');
    expect(await reason(at)).toBeUndefined();
    await at.boards.park(late, newSecret(), { delayMs: 60_000, reason: 'busy', strikesToFail: 0 });
    expect(await reason(at)).toBeUndefined();
    const { version } = await at.boards.task(at.jobId, at.id('late'));
    await at.onTask('late', 'cancel', { version });
    expect(await reason(at)).toBe(
      'people: 1 blocked, 1 in review, 2 for people or external holders to claim',
    );
    await at.claim('external');
    expect(await reason(at)).toBe(
      'people: 1 blocked, 1 in review, 1 for people or external holders to claim, 1 held by people or external holders',
    );
    await at.onTask('agent', 'unblock', { version: 3, answer: 'this' });
    expect(await reason(at)).toBeUndefined();
  });

  it('does so with a lead once it has been told and waits', async () => {
    await using at = await open([{ key: 'human', title: 'Human', executor: 'human' }], { lead: true });
    const lead = (await at.boards.job(at.jobId)).lead ?? '';
    expect(await reason(at)).toBeUndefined();
    const { hold } = await at.app.board.claim(at.jobId, lead);
    expect(await reason(at)).toBeUndefined();
    expect(await at.boards.waitForNews(hold, newSecret())).toBe('parked');
    expect(await reason(at)).toBe('people: 1 for people or external holders to claim');
    const claim = await at.claim('human', { kind: 'human', id: 'ann' });
    await at.onTask('human', 'block', { ...claim, kind: 'needs_decision', reason: 'which?' });
    expect(await reason(at)).toBeUndefined();
  });

  it('is not about people while checks run, nor once the job has ended', async () => {
    await using at = await open([{ key: 'a', title: 'A', policy: 'checked' }]);
    await at.boards.submit(await at.held('a'), newSecret(), 2, RESULT, 'checks');
    expect(await reason(at)).toBeUndefined();
    const check = await at.boards.startChecks(at.jobId, at.id('a'), 'worker:1', 60_000);
    const verdict = {
      passed: true,
      reason: '',
      evidence: [],
      delayMs: 0,
      told: { passed: true as const, checks: [] },
    };
    await at.boards.endChecks(at.jobId, at.id('a'), check ?? { token: '', version: 0 }, verdict);
    expect((await at.get('')).body).toMatchObject({ status: 'succeeded' });
    expect(await reason(at)).toBeUndefined();
  });
});

describe('why', () => {
  it('a ready task of a job that runs one at a time does not run: names the one that does', async () => {
    await using at = await open(
      [
        { key: 'a', title: 'A', executor: 'external' },
        { key: 'b', title: 'B', executor: 'external' },
        { key: 'c', title: 'C' },
      ],
      { allowParallelInProgress: false },
    );
    await at.claim('a');
    for (const key of ['b', 'c']) {
      expect((await at.get(`/tasks/${at.id(key)}/why`)).body).toMatchObject({
        text: expect.stringMatching(
          /waits for its turn: this job runs one task at a time, now #1 "A", which is held by external "bob"/,
        ),
        because: [{ taskId: at.id('a'), title: 'A', status: 'in_progress' }],
      });
    }
  });

  it('counts one task as one', async () => {
    await using at = await open([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    await at.held('a');
    const { redis, prefix } = at.app.board.store;
    // As a worker that is alive announces itself.
    await redis.zadd(`${prefix}:workers:anthropic`, '9999999999999', 'worker-1');
    expect((await at.get(`/tasks/${at.id('b')}/why`)).body.text).toContain('(1 task in progress,');
  });
});

describe('a task that comes back to a lost dependency and asks to be cancelled with it', () => {
  const tasks: NewTask[] = [
    { key: 'a', title: 'A', executor: 'external' },
    { key: 'b', title: 'B', executor: 'external', dependsOn: ['a'], onDependencyLost: 'cancel' },
  ];

  async function lost() {
    const at = await open(tasks);
    await at.onTask('a', 'cancel', { version: 1 });
    for (const entry of await at.boards.readOutbox(at.jobId, 10)) await at.boards.carryOut(at.jobId, entry);
    return at;
  }

  it.each(['reopen', 'retry'])('is told so by the answer of %s', async (action) => {
    await using at = await lost();
    const { status, body } = await at.onTask('b', action, { version: 2 });
    expect(status).toBe(200);
    expect(body.warnings).toEqual([expect.stringContaining('cancelled at once: a dependency of it is lost')]);
  });

  it('is told nothing once the dependency is open again', async () => {
    await using at = await lost();
    await at.onTask('a', 'reopen', { version: 2 });
    const { body } = await at.onTask('b', 'reopen', { version: 2 });
    expect(body).toMatchObject({ status: 'pending', readiness: { state: 'waiting' } });
    expect(body).not.toHaveProperty('warnings');
  });
});

it('results have no line for proposals, open or rejected, and one for each that was approved', async () => {
  await using at = await open([{ key: 'a', title: 'A' }]);
  const hold = await at.held('a');
  const by = { kind: 'sub-agent', id: 's' } as const;
  for (const title of ['Open', 'Rejected', 'Approved']) {
    const { taskId } = await at.boards.propose(hold, newSecret(), { title }, by, 3);
    const action = { Rejected: 'reject', Approved: 'approve' }[title];
    if (action !== undefined) await at.post(`/tasks/${taskId}/${action}`, { version: 1 });
  }
  const lines = (await at.app.readText(`/${at.jobId}/results.jsonl`)).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).title)).toEqual(['A', 'Approved']);
});

it('a list of events after one that is not there says so, and from where to go on', async () => {
  await using at = await open([{ key: 'a', title: 'A' }]);
  const { asOf } = await at.boards.job(at.jobId);
  const list = (after: string) =>
    at.app.send('GET', `/${at.jobId}/events?after=${after}`, undefined, { accept: 'application/json' });
  expect(await list('1-1')).toMatchObject({ status: 404, body: { code: 'not_found', asOf } });
  expect(await list('99999999999999-0')).toMatchObject({ status: 404, body: { code: 'not_found', asOf } });
  expect(await list(asOf)).toMatchObject({ status: 200, body: { events: [], asOf } });
  expect((await list('0-0')).body.events).toHaveLength(3);
});
