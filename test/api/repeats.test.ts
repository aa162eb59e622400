import { newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { openRealApp } from './open-real-app.ts';

/** What each call of a holder needs besides token and request ID, and another content for it. */
const CALLS: Record<string, [Record<string, unknown>, Record<string, unknown>]> = {
  note: [{ text: 'half done' }, { text: 'all done' }],
  submit: [
    { version: 2, summary: 'done' },
    { version: 2, summary: 'done', output: { n: 1 } },
  ],
  block: [
    { kind: 'needs_input', reason: 'no glossary' },
    { kind: 'capability', reason: 'no glossary' },
  ],
  fail: [{ reason: 'no idea' }, { reason: 'no idea', retryable: false }],
  release: [{}, { reason: 'home' }],
};
const NAMES = Object.keys(CALLS);
const MISMATCH = { status: 422, body: { code: 'idempotency_mismatch' } };

/** A job with tasks for outside; `a` is held by bob at version 2. */
async function open(tasks: readonly string[] = ['a', 'b']) {
  const app = await openRealApp();
  const { jobId, ids } = await app.board.job(
    tasks.map((key) => ({ key, title: key, executor: 'external', labels: [`is-${key}`] })),
  );
  const id = (key: string) => ids[key] ?? '';
  const post = (path: string, body?: object, headers?: Record<string, string>) =>
    app.send('POST', `/${jobId}${path}`, body, headers);
  const claim = (body: object) => post('/tasks/claim', { owner: 'bob', ...body });
  const { body } = await claim({ taskId: id('a') });
  const token = String(body.claimToken);
  return {
    app,
    jobId,
    id,
    post,
    claim,
    /** A call of the holder of `a`. */
    held: (action: string, more: object) =>
      post(`/tasks/${id('a')}/${action}`, { claimToken: token, ...more }),
    async state() {
      const { tasks: all, asOf } = await app.board.boards.page(jobId, { after: 0, limit: 100, full: true });
      return { all, asOf };
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe('a request ID that was used', () => {
  const pairs = NAMES.flatMap((first) =>
    NAMES.filter((other) => other !== first).map((other) => [first, other]),
  );
  it.each(pairs)('for %s is refused for %s, and nothing changes', async (first = '', other = '') => {
    await using at = await open();
    const named = { requestId: '1' };
    expect(await at.held(first, { ...CALLS[first]?.[0], ...named })).toMatchObject({ status: 200 });
    const before = await at.state();
    expect(await at.held(other, { ...CALLS[other]?.[0], ...named })).toMatchObject(MISMATCH);
    expect(await at.state()).toEqual(before);
  });

  it.each(NAMES)('for %s with other content is refused, and the same content is a repeat', async (action) => {
    await using at = await open();
    const [content, other] = CALLS[action] ?? [{}, {}];
    await at.held(action, { ...content, requestId: '1' });
    const before = await at.state();
    expect(await at.held(action, { ...other, requestId: '1' })).toMatchObject(MISMATCH);
    const repeat = await at.held(action, { ...content, version: 1, requestId: '1' });
    expect(repeat).toMatchObject({ status: 200, body: { already: true } });
    expect(await at.state()).toEqual(before);
  });

  it('by the harness is a repeat of the same action whatever came with it', async () => {
    await using at = await open();
    const { board } = at.app;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const { hold } = await board.claim(jobId, ids.a ?? '');
    const submit = (evidence: { kind: 'statement'; text: string }[]) =>
      board.boards.submit(hold, '12/toolu_1', 2, { summary: 'done', artifacts: [], evidence });
    expect(await submit([])).toMatchObject({ already: false });
    expect(await submit([{ kind: 'statement', text: 'as checked' }])).toMatchObject({ already: true });
  });

  it('costs a task little: the ID, a letter, and over HTTP six characters of a hash', async () => {
    await using at = await open();
    await at.held('note', { text: 'x', requestId: 'r'.repeat(8) });
    const { board } = at.app;
    const stored = await board.store.redis.hgetBuffer(
      board.boards.keys.board(at.jobId, 'repeats'),
      at.id('a'),
    );
    expect(stored?.length).toBeLessThanOrEqual(8 + 2 + 6 + 4);
  });
});

describe('a claim', () => {
  it('of one task is never answered by another one that its request ID got', async () => {
    await using at = await open();
    const first = await at.claim({ requestId: 'r' });
    expect(first.body.task).toMatchObject({ id: at.id('b') });
    const before = await at.state();
    expect(await at.claim({ requestId: 'r', taskId: at.id('a') })).toMatchObject(MISMATCH);
    expect(await at.claim({ requestId: 'r', labels: ['is-a'] })).toMatchObject(MISMATCH);
    expect(await at.state()).toEqual(before);
    for (const same of [{}, { taskId: at.id('b') }, { labels: ['is-b'] }]) {
      const repeat = await at.claim({ requestId: 'r', ...same });
      expect(repeat.body).toMatchObject({ claimToken: first.body.claimToken, task: { id: at.id('b') } });
    }
  });

  it('of a blocked task and of one in review says what can be done with it', async () => {
    await using at = await open();
    await at.held('block', { kind: 'needs_input', reason: 'no glossary' });
    expect(await at.claim({ taskId: at.id('a') })).toMatchObject({
      status: 409,
      body: {
        code: 'invalid_transition',
        retry: 'after_refresh',
        allowed: expect.arrayContaining(['unblock']),
        current: { status: 'blocked' },
      },
    });
    const { board, send } = at.app;
    const { jobId, ids } = await board.job([
      { key: 'r', title: 'R', policy: 'approved', executor: 'external' },
    ]);
    const r = ids.r ?? '';
    const { body } = await send('POST', `/${jobId}/tasks/claim`, { taskId: r, owner: 'bob' });
    const { claimToken } = body;
    await send('POST', `/${jobId}/tasks/${r}/submit`, { claimToken, version: 2, summary: 'done' });
    expect(await send('POST', `/${jobId}/tasks/claim`, { taskId: r, owner: 'eve' })).toMatchObject({
      status: 409,
      body: { code: 'invalid_transition', allowed: expect.arrayContaining(['approve', 'reject']) },
    });
  });
});

describe('an Idempotency-Key', () => {
  /** Calls by people, each with another body for it; the tasks are those of {@link decidable}. */
  const DECISIONS: [string, string, object, object][] = [
    [
      'add',
      '/tasks',
      { tasks: [{ title: 'X', executor: 'human' }] },
      { tasks: [{ title: 'Y', executor: 'human' }] },
    ],
    ['unblock', '/tasks/blocked/unblock', { version: 3, answer: 'a' }, { version: 3, answer: 'b' }],
    ['approve', '/tasks/review/approve', { version: 3 }, { version: 4 }],
    ['reject', '/tasks/review/reject', { version: 3, text: 'a' }, { version: 3, text: 'b' }],
    ['cancel', '/tasks/open/cancel', { version: 1 }, { version: 1, dependents: 'cancel' }],
    ['reopen', '/tasks/done/reopen', { version: 3, reason: 'a' }, { version: 3, reason: 'b' }],
    ['retry', '/tasks/done/retry', { version: 3, reason: 'a' }, { version: 3, reason: 'b' }],
    ['cancel of the job', '/cancel', { reason: 'a' }, { reason: 'b' }],
  ];

  /** A job with a task in each state that people decide about, by key. */
  async function decidable() {
    const app = await openRealApp();
    const { boards } = app.board;
    const { jobId, ids } = await app.board.job([
      { key: 'blocked', title: 'Blocked' },
      { key: 'review', title: 'Review', policy: 'approved' },
      { key: 'done', title: 'Done' },
      { key: 'open', title: 'Open', executor: 'external' },
      { key: 'other', title: 'Other', executor: 'external' },
    ]);
    const result = { summary: 'done', artifacts: [], evidence: [] };
    const held = async (key: string) => (await app.board.claim(jobId, ids[key] ?? '')).hold;
    await boards.block(await held('blocked'), newSecret(), { kind: 'needs_input', reason: 'why' });
    await boards.submit(await held('review'), newSecret(), 2, result, 'review');
    await boards.submit(await held('done'), newSecret(), 2, result);
    const post = (path: string, body: object) => {
      const real = path.replace(/^\/tasks\/(\w+)/, (_, key: string) => `/tasks/${ids[key]}`);
      return app.send('POST', `/${jobId}${real}`, body, { 'idempotency-key': 'k1' });
    };
    const state = async () => {
      const { tasks, asOf } = await boards.page(jobId, { after: 0, limit: 100 });
      return { tasks, asOf };
    };
    return { post, state, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  }

  it.each(DECISIONS)(
    'of %s makes a repeat harmless, and is refused with another body',
    async (_, path, body, other) => {
      await using at = await decidable();
      const first = await at.post(path, body);
      expect(first.status).toBeLessThan(300);
      const before = await at.state();
      expect(await at.post(path, other)).toMatchObject(MISMATCH);
      expect(await at.post(path, body)).toMatchObject({ status: first.status });
      expect(await at.state()).toEqual(before);
    },
  );

  const pairs = DECISIONS.flatMap((first) =>
    DECISIONS.filter((other) => other !== first && first[0] !== 'cancel of the job').map(
      (other) => [first[0], other[0], first, other] as const,
    ),
  );
  it.each(pairs)('of %s is refused for %s', async (_name, _other, first, other) => {
    await using at = await decidable();
    expect((await at.post(first[1], first[2])).status).toBeLessThan(300);
    const before = await at.state();
    expect(await at.post(other[1], other[2])).toMatchObject(MISMATCH);
    expect(await at.state()).toEqual(before);
  });

  it('stands for one task: the same decision about another one is refused', async () => {
    await using at = await decidable();
    await at.post('/tasks/open/cancel', { version: 1 });
    expect(await at.post('/tasks/other/cancel', { version: 1 })).toMatchObject(MISMATCH);
  });
});
