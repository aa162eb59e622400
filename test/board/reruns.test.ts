import { foldEvents } from '@crewboard/board';
import { type NewTask, newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';
import { drainOutbox } from './random-history.ts';

const RESULT = { summary: 'done', output: { n: 1 }, artifacts: [], evidence: [] };
const FAILURE = { class: 'model', reason: 'no idea', retryable: false, delayMs: 0, infraStrikes: 3 } as const;
const titled = (count: number, more: Partial<NewTask> = {}): NewTask[] =>
  Array.from({ length: count }, (_, i) => ({ key: `k${i}`, title: `Task ${i}`, ...more }));

/** Ends a task that is ready: completed, or failed for good. */
async function end(board: BoardFixture, jobId: string, taskId: string, how: 'completed' | 'failed') {
  const { hold, task } = await board.claim(jobId, taskId);
  if (how === 'completed') await board.boards.submit(hold, newSecret(), task.version, RESULT);
  else await board.boards.fail(hold, newSecret(), FAILURE);
}

/** Makes a job of independent tasks and ends the first `failed` of them badly, the others well. */
async function endedJob(board: BoardFixture, count: number, failed: number) {
  const limits = { maxParallel: count };
  const { jobId, ids } = await board.job(titled(count), { limits });
  for (let i = 0; i < count; i++)
    await end(board, jobId, ids[`k${i}`] ?? '', i < failed ? 'failed' : 'completed');
  await drainOutbox(board.boards, jobId);
  return { jobId, ids };
}

async function failedTasks({ boards }: BoardFixture, jobId: string) {
  const { tasks } = await boards.page(jobId, { status: 'failed', after: 0, limit: 1000 });
  return tasks.map(({ id, version }) => ({ id, version }));
}

async function start(
  board: BoardFixture,
  jobId: string,
  more: Partial<Parameters<BoardFixture['boards']['startRerun']>[1]> = {},
) {
  const tasks = await failedTasks(board, jobId);
  return board.boards.startRerun(jobId, { by: ANN, reason: 'again', tasks, ...more });
}

/** Counts, log and doctor agree. */
async function expectSound({ boards }: BoardFixture, jobId: string) {
  const { findings } = await boards.examine(jobId);
  // Whoever calls the board puts a job on the list of live ones.
  expect(findings.filter(({ check }) => check !== 'live')).toEqual([]);
  const events = await boards.events(jobId, '0-0', 10_000);
  const folded = foldEvents(events);
  const { tasks } = await boards.page(jobId, { after: 0, limit: 1000 });
  for (const { id, status, version } of tasks)
    expect(folded.tasks.get(id)).toMatchObject({ status, version });
}

describe('a rerun', () => {
  it('opens the chosen tasks of an ended job, and leaves the others as they are, byte for byte', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await endedJob(board, 5, 2);
    const others = ['k2', 'k3', 'k4'].map((key) => ids[key] ?? '');
    const before = await boards.readTasks(jobId, others, true);
    expect(await start(board, jobId)).toMatchObject({ rerun: 1, matched: 2, reopened: 0, left: 2 });
    // Fixed and opened in one step, and kept from its end before any task is pending.
    expect(await boards.job(jobId)).toMatchObject({ status: 'running', counts: { pending: 0, failed: 2 } });
    await drainOutbox(boards, jobId);
    const { status, counts } = await boards.job(jobId);
    expect([status, counts.ready, counts.completed]).toEqual(['running', 2, 3]);
    expect(await boards.readTasks(jobId, others, true)).toEqual(before);
    await expectSound(board, jobId);
    for (const key of ['k0', 'k1']) await end(board, jobId, ids[key] ?? '', 'completed');
    await drainOutbox(boards, jobId);
    expect(await boards.job(jobId)).toMatchObject({ status: 'succeeded', counts: { completed: 5 } });
    await expectSound(board, jobId);
  });

  it('opens each task once, however often and by however many its slices are carried out', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await endedJob(board, 600, 600);
    await start(board, jobId);
    const first = await boards.rerunSlice(jobId, 1);
    expect(first).toMatchObject({ matched: 600, reopened: 250, skipped: 0, left: 350 });
    await expectSound(board, jobId);
    await Promise.all(Array.from({ length: 8 }, () => boards.rerunSlice(jobId, 1)));
    expect(await boards.rerunSlice(jobId, 1)).toMatchObject({ reopened: 600, skipped: 0, left: 0 });
    await drainOutbox(boards, jobId);
    const events = await boards.events(jobId, '0-0', 10_000);
    const opened = events.filter(({ type }) => type === 'task.reopened').map(({ taskId }) => taskId);
    expect([opened.length, new Set(opened).size]).toEqual([600, 600]);
    await expectSound(board, jobId);
  });

  it('leaves a task as it is that was opened or has ended anew since it was chosen, and counts it', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await endedJob(board, 3, 3);
    const tasks = await failedTasks(board, jobId);
    const [k0 = '', k1 = ''] = [ids.k0, ids.k1];
    await boards.change(jobId, {
      by: ANN,
      reopens: [k0, k1].map((taskId) => ({ taskId, version: 3, reason: 'mine' })),
    });
    await drainOutbox(boards, jobId);
    await end(board, jobId, k1, 'failed');
    await boards.startRerun(jobId, { by: ANN, reason: 'again', tasks });
    await drainOutbox(boards, jobId);
    expect(await boards.rerunSlice(jobId, 1)).toMatchObject({ matched: 3, reopened: 1, skipped: 2, left: 0 });
    expect((await boards.task(jobId, k1)).status).toBe('failed');
    await expectSound(board, jobId);
  });

  it('of a job that is cancelled meanwhile runs nothing more, and keeps it from nothing', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await endedJob(board, 300, 300);
    await start(board, jobId);
    await boards.rerunSlice(jobId, 1);
    await boards.cancelJob(jobId, 'user:ann', 'enough');
    await drainOutbox(boards, jobId);
    expect(await boards.rerunSlice(jobId, 1)).toMatchObject({ reopened: 250, skipped: 50, left: 0 });
    expect(await boards.job(jobId)).toMatchObject({
      status: 'cancelled',
      counts: { cancelled: 250, failed: 50 },
    });
    await expectSound(board, jobId);
  });

  it('makes dependents reachable again, and names those that have started on an earlier result', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'lost', title: 'Lost', dependsOn: ['a'] },
      { key: 'after', title: 'After', dependsOn: [{ task: 'a', condition: 'settled' }] },
    ]);
    const { a = '', lost = '', after = '' } = ids;
    await end(board, jobId, a, 'failed');
    await end(board, jobId, after, 'completed');
    await drainOutbox(boards, jobId);
    expect((await boards.task(jobId, lost)).readiness?.state).toBe('unreachable');
    await start(board, jobId);
    await drainOutbox(boards, jobId);
    expect((await boards.task(jobId, lost)).readiness).toEqual({ state: 'waiting', on: [a] });
    expect((await boards.rerunSlice(jobId, 1)).startedDependents).toEqual([after]);
    expect(await boards.task(jobId, a)).toMatchObject({ status: 'pending', failures: 0 });
    await expectSound(board, jobId);
  });

  it('tells its instructions besides those of the task, those of the last rerun alone', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const input = { exact: 12345678901234567000, list: [], none: null };
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A', instructions: 'Own words', input },
      { key: 'b', title: 'B' },
    ]);
    for (const [instructions, told] of [
      ['First', 'First'],
      ['Second', 'Second'],
      [undefined, 'Second'],
    ]) {
      for (const key of ['a', 'b']) await end(board, jobId, ids[key] ?? '', 'failed');
      await start(board, jobId, { instructions });
      await drainOutbox(boards, jobId);
      const a = await boards.task(jobId, ids.a ?? '');
      expect([a.instructions, a.input]).toEqual([`Own words\n\n${told}`, input]);
      expect((await boards.task(jobId, ids.b ?? '')).instructions).toBe(told);
    }
  });

  it.each([
    ['nothing matches', { tasks: [] }, 'not_found'],
    ['another number than expected matches', { expectCount: 3 }, 'invalid_argument'],
  ])('changes nothing when %s', async (_, more, code) => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await endedJob(board, 3, 2);
    const before = await boards.job(jobId);
    await expect(start(board, jobId, more)).rejects.toMatchObject({ code });
    expect({ ...(await boards.job(jobId)), now: 0 }).toEqual({ ...before, now: 0 });
    await expectSound(board, jobId);
  });

  it('under one Idempotency-Key is one rerun, also once its tasks are pending; with another content it is refused', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await endedJob(board, 3, 2);
    const request = { key: 'http:k', content: 'one' };
    const all = await Promise.all(Array.from({ length: 20 }, () => start(board, jobId, { request })));
    expect(new Set(all.map(({ rerun }) => rerun))).toEqual(new Set([1]));
    await drainOutbox(boards, jobId);
    expect(await start(board, jobId, { request })).toMatchObject({ rerun: 1, matched: 2, reopened: 2 });
    await expect(start(board, jobId, { request: { ...request, content: 'two' } })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
    await expectSound(board, jobId);
  });

  it('that stands in no outbox any more is put back by the doctor', async () => {
    await using board = await openBoardFixture();
    const { boards, store } = board;
    const { jobId } = await endedJob(board, 3, 2);
    await start(board, jobId);
    await store.redis.del(boards.keys.board(jobId, 'outbox'));
    await boards.examine(jobId, { repair: true });
    await drainOutbox(boards, jobId);
    expect((await boards.job(jobId)).counts.ready).toBe(2);
    await expectSound(board, jobId);
  });

  it('of a job with a lead leaves that to wait for the news, and wakes it once all is settled', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }], { lead: true });
    const { lead = '' } = await boards.job(jobId);
    await end(board, jobId, ids.a ?? '', 'failed');
    const run = await board.claim(jobId, lead);
    const news = (await boards.events(jobId, '0-0', 100)).at(-1)?.id ?? '';
    const journal = await boards.openJournal(run.hold, { attempt: 1, cursorFor: () => news });
    await journal.append({ kind: 'message', texts: ['a has failed'] });
    await boards.finishJob(run.hold, 'r2', { summary: 'done' }, []);
    expect((await boards.job(jobId)).status).toBe('partial');
    await start(board, jobId);
    await drainOutbox(boards, jobId);
    expect((await boards.task(jobId, lead)).readiness?.state).toBe('waiting');
    await end(board, jobId, ids.a ?? '', 'completed');
    await drainOutbox(boards, jobId);
    expect((await boards.task(jobId, lead)).readiness?.state).toBe('ready');
    await expectSound(board, jobId);
  });
});
