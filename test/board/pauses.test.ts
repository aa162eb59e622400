import { describe, expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';

const RESULT = { summary: 'done', artifacts: [], evidence: [] };
const FAILURE = { class: 'model', reason: 'gave up', retryable: false, delayMs: 0, infraStrikes: 3 } as const;
const titles = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: `${i}`, title: `Task ${i}` }));
const idsOf = (ids: Record<string, string>) => Object.values(ids);

const typesOf = async ({ boards }: BoardFixture, jobId: string) =>
  (await boards.events(jobId, '0-0', 1000)).map(({ type }) => type);

/** The tasks that the outbox would put into the queue. */
const dispatched = async ({ boards }: BoardFixture, jobId: string) =>
  (await boards.readOutbox(jobId, 1000)).filter(({ kind }) => kind === 'enqueue').map(({ taskId }) => taskId);

async function failOne(board: BoardFixture, jobId: string, taskId: string) {
  const { hold } = await board.claim(jobId, taskId);
  await board.boards.fail(hold, `fail ${taskId}`, FAILURE);
}

/** What the doctor finds, for a job that a sweeper looks after. */
async function findings({ boards }: BoardFixture, jobId: string) {
  await boards.index.addLive(jobId);
  return (await boards.examine(jobId)).findings;
}

describe('pauses', () => {
  it('are a set: each cause is told with its reason, and the job runs again when none is left', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job(titles(2));
    expect(await boards.pauseJob(jobId, ANN, 'user', 'lunch')).toBe(true);
    expect(await boards.pauseJob(jobId, ANN, 'user', 'again')).toBe(false);
    expect(await boards.pauseJob(jobId, ANN, 'provider', 'no key')).toBe(true);
    expect(await boards.job(jobId)).toMatchObject({
      status: 'paused',
      pauses: ['user', 'provider'],
      reason: 'user: lunch; provider: no key',
    });
    expect(await boards.resumeJob(jobId, ANN, 'provider')).toBe(true);
    expect(await boards.job(jobId)).toMatchObject({
      status: 'paused',
      pauses: ['user'],
      reason: 'user: lunch',
    });
    expect(await boards.resumeJob(jobId, ANN, 'budget')).toBe(false);
    expect(await boards.resumeJob(jobId, ANN, 'user')).toBe(true);
    expect(await boards.job(jobId)).toMatchObject({ status: 'running', pauses: [], reason: '' });
    const events = (await boards.events(jobId, '0-0', 100)).filter(({ type }) => /paused|resumed/.test(type));
    expect(events.map(({ type, data }) => [type, data?.pauses])).toEqual([
      ['job.paused', ['user']],
      ['job.paused', ['user', 'provider']],
      ['job.paused', ['user']],
      ['job.resumed', undefined],
    ]);
  });

  it('are all lifted at once when no cause is named, with the reason of whoever did', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job(titles(1));
    for (const cause of ['user', 'budget', 'stall']) await boards.pauseJob(jobId, ANN, cause, 'because');
    expect(await boards.resumeJob(jobId, ANN, '', 'it is raised')).toBe(true);
    expect(await boards.job(jobId)).toMatchObject({ status: 'running', pauses: [] });
    expect((await boards.events(jobId, '0-0', 100)).at(-1)).toMatchObject({
      type: 'job.resumed',
      data: { reason: 'it is raised' },
    });
  });

  it('refuse claims, hold what is pending, and let holders go on', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      ...titles(2),
      { key: 'x', title: 'Outside', executor: 'external' },
    ]);
    const { hold, task } = await board.claim(jobId, ids['0'] ?? '');
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    for (const taskId of [ids['1'] ?? '', ids.x ?? '']) {
      await expect(board.claim(jobId, taskId)).rejects.toMatchObject({
        code: 'board_paused',
        retry: 'later',
      });
    }
    expect(await boards.heartbeat(hold, 30_000)).toMatchObject({ cancelling: false, paused: true });
    await boards.note(hold, 'note', 'still here');
    await boards.submit(hold, 'submit', task.version, RESULT);
    expect((await boards.job(jobId)).counts).toMatchObject({ completed: 1, pending: 2, held: 2, ready: 0 });
    expect((await boards.task(jobId, ids['1'] ?? '')).readiness).toEqual({ state: 'held', cause: 'pause' });
  });

  it('keep the window empty, and a resume fills it at once', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(6), { limits: { maxParallel: 3 } });
    const [first = '', second = '', third = ''] = idsOf(ids);
    const held = await board.claim(jobId, first);
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    // The deliveries of the others come while the job is paused: they are given back.
    for (const taskId of [second, third]) {
      await expect(board.claim(jobId, taskId)).rejects.toMatchObject({ code: 'board_paused' });
    }
    await boards.submit(held.hold, 's', held.task.version, RESULT);
    const before = await dispatched(board, jobId);
    await boards.resumeJob(jobId, ANN);
    expect((await dispatched(board, jobId)).slice(before.length)).toEqual(idsOf(ids).slice(1, 4));
    await boards.sweep(jobId, { intervalMs: 0, leaseMs: 30_000, strikes: 3, staleMs: 60_000 });
    expect(await findings(board, jobId)).toEqual([]);
  });

  it.each(['pauseJob', 'resumeJob'] as const)('are refused by an ended job in %s', async (call) => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(1));
    const { hold, task } = await board.claim(jobId, ids['0'] ?? '');
    await boards.submit(hold, 's', task.version, RESULT);
    await expect(boards[call](jobId, ANN, 'user', '')).rejects.toMatchObject({ code: 'terminal' });
  });

  it('of a stall are lifted by an add, a retry and an answer, and by nothing else of that kind', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(
      [...titles(3), { key: 'held', title: 'Held', executor: 'external' }],
      { limits: { maxParallel: 2 } },
    );
    const [failed = '', blocked = '', edited = ''] = idsOf(ids);
    await failOne(board, jobId, failed);
    const { hold } = await board.claim(jobId, blocked);
    await boards.block(hold, 'block', { kind: 'needs_input', reason: 'which?' });
    const stall = async () => {
      await boards.pauseJob(jobId, ANN, 'stall', 'nothing runs');
    };
    const pausesNow = async () => (await boards.job(jobId)).pauses;
    const version = async (taskId: string) => (await boards.task(jobId, taskId)).version;

    await stall();
    const edit = { taskId: edited, version: await version(edited), patch: { title: 'Edited' } };
    await boards.change(jobId, { by: ANN, edits: [edit] });
    expect(await pausesNow()).toEqual(['stall']);
    await boards.add(jobId, { by: ANN, tasks: [{ title: 'More' }] });
    expect(await pausesNow()).toEqual([]);
    await stall();
    await boards.change(jobId, {
      by: ANN,
      reopens: [{ taskId: failed, version: await version(failed), reason: 'again' }],
    });
    expect(await pausesNow()).toEqual([]);
    await stall();
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    await boards.resolve(jobId, {
      taskId: blocked,
      version: await version(blocked),
      decision: 'unblock',
      text: 'that one',
      by: ANN,
    });
    expect(await pausesNow()).toEqual(['user']);
    expect(await findings(board, jobId)).toEqual([]);
  });
});

describe('maxFailures', () => {
  it('pauses the job when so many tasks failed, and counts anew from a resume', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(8), { limits: { maxFailures: 2 } });
    const [a = '', b = '', c = '', d = ''] = idsOf(ids);
    await failOne(board, jobId, a);
    expect((await boards.job(jobId)).status).toBe('running');
    await failOne(board, jobId, b);
    expect(await boards.job(jobId)).toMatchObject({
      status: 'paused',
      pauses: ['failures'],
      reason: 'failures: 2 tasks failed (maxFailures 2)',
    });
    await boards.resumeJob(jobId, ANN);
    await failOne(board, jobId, c);
    expect((await boards.job(jobId)).status).toBe('running');
    await failOne(board, jobId, d);
    expect((await boards.job(jobId)).pauses).toEqual(['failures']);
    expect(await findings(board, jobId)).toEqual([]);
  });

  it('does not count an attempt that is tried again', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(2), { limits: { maxFailures: 1 } });
    const { hold } = await board.claim(jobId, ids['0'] ?? '');
    await boards.fail(hold, 'fail', { ...FAILURE, retryable: true });
    expect((await boards.job(jobId)).status).toBe('running');
  });

  it('leaves a job alone that its last failure ends, and counts anew when it is opened again', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(2), { limits: { maxFailures: 2 } });
    const [a = '', b = ''] = idsOf(ids);
    await failOne(board, jobId, a);
    await failOne(board, jobId, b);
    expect(await boards.job(jobId)).toMatchObject({ status: 'failed', pauses: [] });
    const { version } = await boards.task(jobId, a);
    await boards.change(jobId, { by: ANN, reopens: [{ taskId: a, version, reason: '' }] });
    await boards.add(jobId, { by: ANN, tasks: [{ title: 'Keeps it open' }] });
    await failOne(board, jobId, a);
    expect((await boards.job(jobId)).status).toBe('running');
  });
});

describe('jobTimeoutMs', () => {
  const sweep = ({ boards }: BoardFixture, jobId: string, leaseMs = 30_000) =>
    boards.sweep(jobId, { intervalMs: 0, leaseMs, strikes: 3, staleMs: 60_000 });
  const drain = async ({ boards }: BoardFixture, jobId: string) => {
    for (const entry of await boards.readOutbox(jobId, 100)) await boards.carryOut(jobId, entry);
  };
  /** As if the board had been swept and begun to be active so much earlier; absent: only the latter. */
  async function age({ boards, store }: BoardFixture, jobId: string, ms: number, swept = 0) {
    const script = `local B = cmsgpack.unpack(redis.call('HGET', KEYS[1], '@'))
B[12], B[54] = B[12] - ARGV[2], B[54] - ARGV[1]
redis.call('HSET', KEYS[1], '@', cmsgpack.pack(B))`;
    await store.redis.eval(script, 1, boards.keys.board(jobId, 'hot'), ms, swept);
  }

  it('ends the job as failed, or partial when something was completed, and says why', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    for (const completed of [0, 1]) {
      const { jobId, ids } = await board.job(titles(4), { limits: { jobTimeoutMs: 1000 } });
      const [a = '', b = ''] = idsOf(ids);
      const { hold, task } = await board.claim(jobId, a);
      if (completed > 0) await boards.submit(hold, 's', task.version, RESULT);
      const running = await board.claim(jobId, b);
      await age(board, jobId, 1000);
      await sweep(board, jobId);
      expect(await boards.heartbeat(running.hold).catch((error: unknown) => error)).toMatchObject({
        code: 'terminal',
      });
      await drain(board, jobId);
      expect(await boards.job(jobId)).toMatchObject({
        status: completed > 0 ? 'partial' : 'failed',
        reason: 'timeout: the job was active for its jobTimeoutMs of 1000',
        counts: { completed, cancelled: 4 - completed },
      });
      expect((await typesOf(board, jobId)).at(-1)).toBe(completed > 0 ? 'job.partial' : 'job.failed');
      expect(await findings(board, jobId)).toEqual([]);
    }
  });

  it('does not count the time of a pause', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job(titles(2), { limits: { jobTimeoutMs: 1000 } });
    await age(board, jobId, 900);
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    const paused = performance.now();
    await expect.poll(() => performance.now() - paused).toBeGreaterThan(200);
    await boards.resumeJob(jobId, ANN);
    await sweep(board, jobId);
    expect(await boards.job(jobId)).toMatchObject({ status: 'running', cancelling: false });
    await age(board, jobId, 200);
    await sweep(board, jobId);
    expect((await boards.job(jobId)).cancelling).toBe(true);
  });

  it('does not count time in which no process was there', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job(titles(2), { limits: { jobTimeoutMs: 60_000 } });
    await sweep(board, jobId);
    await age(board, jobId, 3_600_000, 3_600_000);
    await sweep(board, jobId);
    expect((await boards.job(jobId)).cancelling).toBe(false);
  });

  it('begins anew when the ended job is opened again', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(1), { limits: { jobTimeoutMs: 60_000 } });
    await age(board, jobId, 60_000);
    await sweep(board, jobId);
    await drain(board, jobId);
    expect((await boards.job(jobId)).status).toBe('failed');
    const taskId = ids['0'] ?? '';
    const { version } = await boards.task(jobId, taskId);
    await boards.change(jobId, { by: ANN, reopens: [{ taskId, version, reason: 'once more' }] });
    await sweep(board, jobId);
    expect(await boards.job(jobId)).toMatchObject({ status: 'running', cancelling: false, reason: '' });
    // And a cancel is a cancel again.
    await boards.cancelJob(jobId, 'user:ann', 'enough');
    await drain(board, jobId);
    expect((await boards.job(jobId)).status).toBe('cancelled');
  });
});
