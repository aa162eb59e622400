import type { JobLimitsInput } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';

const RESULT = { summary: 'done', artifacts: [], evidence: [] };
const FAILURE = { class: 'model', reason: 'gave up', retryable: true, delayMs: 0, infraStrikes: 3 } as const;
const titles = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: `${i}`, title: `Task ${i}` }));

/** Changes limits at the version that stands, or at another one. */
async function edit({ boards }: BoardFixture, jobId: string, changed: JobLimitsInput, version?: number) {
  const { spec, version: now } = await boards.job(jobId);
  const limits = { ...spec.limits, ...changed };
  return boards.editJob(spec, { by: ANN, version: version ?? now, limits, changed });
}

const inWindow = ({ boards, store }: BoardFixture, jobId: string) =>
  store.redis.zcard(boards.keys.board(jobId, 'window'));

/** What the doctor finds, for a job that a sweeper looks after. */
async function findings({ boards }: BoardFixture, jobId: string) {
  await boards.index.addLive(jobId);
  return (await boards.examine(jobId)).findings;
}

describe('limits of a running job', () => {
  it('change at the version that was seen, which moves with such edits alone', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(2));
    const { hold, task } = await board.claim(jobId, ids['0'] ?? '');
    await boards.submit(hold, 's', task.version, RESULT);
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    await boards.resumeJob(jobId, ANN);
    expect((await boards.job(jobId)).version).toBe(1);
    expect(await edit(board, jobId, { maxTurns: 10 })).toBe(2);
    expect(await boards.job(jobId)).toMatchObject({ version: 2, spec: { limits: { maxTurns: 10 } } });
    expect((await boards.events(jobId, '0-0', 100)).at(-1)).toMatchObject({
      type: 'job.edited',
      by: ANN,
      data: { version: 2, limits: { maxTurns: 10 } },
    });
    await expect(edit(board, jobId, { maxTurns: 20 }, 1)).rejects.toMatchObject({
      code: 'stale_version',
      detail: 'the job has changed: it is at version 2 now.',
      extras: { current: { version: 2 } },
    });
    expect((await boards.job(jobId)).spec.limits.maxTurns).toBe(10);
  });

  it('are given to one of many that change them at once', async () => {
    await using board = await openBoardFixture();
    const { jobId } = await board.job(titles(1));
    const edits = Array.from({ length: 10 }, (_, i) => edit(board, jobId, { maxTurns: 10 + i }, 1));
    const outcomes = await Promise.allSettled(edits);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await board.boards.job(jobId)).version).toBe(2);
  });

  it('of parallel tasks: a raised one hands out more at once, a lowered one only starts no more', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(10), { limits: { maxParallel: 2 } });
    expect(await inWindow(board, jobId)).toBe(2);
    await edit(board, jobId, { maxParallel: 5 });
    expect(await inWindow(board, jobId)).toBe(5);
    const held = await Promise.all(
      Object.values(ids)
        .slice(0, 5)
        .map((taskId) => board.claim(jobId, taskId)),
    );
    await edit(board, jobId, { maxParallel: 1 });
    expect((await boards.job(jobId)).counts.in_progress).toBe(5);
    expect(await findings(board, jobId)).toEqual([]);
    for (const { hold, task } of held.slice(0, 4)) await boards.submit(hold, 's', task.version, RESULT);
    expect(await inWindow(board, jobId)).toBe(1);
    const [last] = held.slice(4);
    if (last !== undefined) await boards.submit(last.hold, 's', last.task.version, RESULT);
    expect(await inWindow(board, jobId)).toBe(1);
    expect((await boards.job(jobId)).counts).toMatchObject({ completed: 5, ready: 5 });
  });

  it('of tasks refuse adds beyond the new one', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job(titles(2), { limits: { maxTasks: 2 } });
    const add = () => boards.add(jobId, { by: ANN, tasks: [{ title: 'More' }] });
    await expect(add()).rejects.toMatchObject({ code: 'limit_exceeded' });
    await edit(board, jobId, { maxTasks: 3 });
    await add();
    await expect(add()).rejects.toMatchObject({ code: 'limit_exceeded' });
  });

  it('of attempts hold for tasks that name none of their own, also for those that run', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(
      [
        { key: 'a', title: 'A' },
        { key: 'own', title: 'Own', maxAttempts: 1 },
      ],
      { limits: { maxAttempts: 1 } },
    );
    // The fixture stages with the job's number; a task that is added later names none.
    const [added] = await boards.add(jobId, { by: ANN, tasks: [{ title: 'B' }] });
    const b = added?.taskId ?? '';
    expect((await boards.task(jobId, b)).maxAttempts).toBe(1);
    const { hold } = await board.claim(jobId, b);
    await edit(board, jobId, { maxAttempts: 2 });
    expect((await boards.task(jobId, b)).maxAttempts).toBe(2);
    expect((await boards.task(jobId, ids.own ?? '')).maxAttempts).toBe(1);
    await boards.fail(hold, 'f1', FAILURE);
    expect(await boards.task(jobId, b)).toMatchObject({ status: 'pending', failures: 1 });
    const again = await board.claim(jobId, b);
    expect(again.task.maxAttempts).toBe(2);
    await boards.fail(again.hold, 'f2', FAILURE);
    expect((await boards.task(jobId, b)).status).toBe('failed');
    expect(await findings(board, jobId)).toEqual([]);
  });

  it('of failures hold from the next failure on', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(3));
    const failOne = async (taskId: string) => {
      const { hold } = await board.claim(jobId, taskId);
      await boards.fail(hold, 'f', { ...FAILURE, retryable: false });
    };
    await failOne(ids['0'] ?? '');
    await edit(board, jobId, { maxFailures: 1 });
    expect((await boards.job(jobId)).status).toBe('running');
    await failOne(ids['1'] ?? '');
    expect((await boards.job(jobId)).pauses).toEqual(['failures']);
  });

  it('of lead runs wake a lead that had used its up', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(titles(3), { lead: true, limits: { maxLeadRuns: 1 } });
    const lead = (await boards.job(jobId)).lead ?? '';
    const wait = async () => {
      const { hold } = await board.claim(jobId, lead);
      const journal = await boards.openJournal(hold, { attempt: 1, cursorFor: () => undefined });
      expect(journal.entries).toEqual([]);
      return boards.waitForNews(hold, 'wait');
    };
    expect(await wait()).toBe('parked');
    const fail = async (taskId: string) => {
      const { hold } = await board.claim(jobId, taskId);
      await boards.fail(hold, 'f', { ...FAILURE, retryable: false });
    };
    // The first failure wakes it, the one that it may be woken by.
    await fail(ids['0'] ?? '');
    const { hold } = await board.claim(jobId, lead);
    await boards.release(hold, 'give back', '');
    const again = await board.claim(jobId, lead);
    expect(await boards.waitForNews(again.hold, 'wait again')).toBe('parked');
    expect((await boards.job(jobId)).queued).toBe(true);
    await expect(board.claim(jobId, lead)).rejects.toMatchObject({ code: 'not_ready' });
    await edit(board, jobId, { maxLeadRuns: 5 });
    expect((await board.claim(jobId, lead)).task.attempt).toBe(4);
  });

  it('are refused by a job that has ended', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job(titles(1));
    const { hold, task } = await board.claim(jobId, ids['0'] ?? '');
    await board.boards.submit(hold, 's', task.version, RESULT);
    await expect(edit(board, jobId, { maxTurns: 5 })).rejects.toMatchObject({ code: 'terminal' });
  });
});
