import { describe, expect, it } from 'vitest';
import { ANN, openBoardFixture } from '../support/board.ts';

async function stalled() {
  const board = await openBoardFixture();
  const { jobId, ids } = await board.job([{ key: 'a', title: 'A', maxAttempts: 1 }], { lead: true });
  const { boards } = board;
  const lead = (await boards.job(jobId)).lead ?? '';
  const { hold } = await board.claim(jobId, lead);
  return { board, boards, jobId, lead, hold, taskId: ids.a ?? '' };
}

describe('a stalled lead', () => {
  it('is refused while something can still bring news, and with unread messages', async () => {
    const { board, boards, jobId, hold, taskId } = await stalled();
    await using _ = board;
    expect(await boards.stall(hold, 's', 'nothing')).toBe('moving');
    const worker = await board.claim(jobId, taskId);
    const failure = { class: 'model' as const, reason: 'no', retryable: false, delayMs: 0, infraStrikes: 3 };
    await boards.fail(worker.hold, 'f', failure);
    expect(await boards.stall(hold, 's', 'nothing')).toBe('moving');
    const { asOf } = await boards.job(jobId);
    const journal = await boards.openJournal(hold, { attempt: 1, cursorFor: () => asOf });
    await journal.append({ kind: 'message', texts: ['news'] });
    await boards.sendMessage(jobId, { by: ANN, text: 'hello' });
    expect(await boards.stall(hold, 's', 'nothing')).toBe('moving');
    expect((await boards.job(jobId)).pauses).toEqual([]);
  });

  it('says that the job is empty, and changes nothing, without a task', async () => {
    await using board = await openBoardFixture();
    const { jobId } = await board.job([], { lead: true });
    const { hold } = await board.claim(jobId, (await board.boards.job(jobId)).lead ?? '');
    expect(await board.boards.stall(hold, 's', 'nothing')).toBe('empty');
    expect(await board.boards.checkHold(hold, 's', 'wait')).toBe('current');
  });

  it('pauses the job once; unblock lifts that and another cause stays', async () => {
    const { board, boards, jobId, hold, lead, taskId } = await stalled();
    await using _ = board;
    const worker = await board.claim(jobId, taskId);
    await boards.block(worker.hold, 'b', { kind: 'needs_input', reason: 'which?' });
    // A blocked task is with people: no stall of its own, so the cause is set by hand here.
    expect(await boards.stall(hold, 's', 'nothing')).toBe('moving');
    await boards.pauseJob(jobId, ANN, 'stall', 'nothing');
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    const { version } = await boards.task(jobId, taskId);
    await boards.resolve(jobId, { taskId, version, decision: 'unblock', text: 'b', by: ANN });
    expect((await boards.job(jobId)).pauses).toEqual(['user']);
    await boards.resumeJob(jobId, ANN);
    expect((await boards.job(jobId)).pauses).toEqual([]);
    expect((await boards.task(jobId, lead)).status).toBe('in_progress');
  });

  it('is queued again under a new number when somebody reopens a task', async () => {
    const { board, boards, jobId, hold, lead, taskId } = await stalled();
    await using _ = board;
    const worker = await board.claim(jobId, taskId);
    const { version } = worker.task;
    await boards.submit(worker.hold, 'd', version, { summary: 'done', artifacts: [], evidence: [] });
    const { asOf } = await boards.job(jobId);
    const journal = await boards.openJournal(hold, { attempt: 1, cursorFor: () => asOf });
    await journal.append({ kind: 'message', texts: ['news'] });
    expect(await boards.stall(hold, 's', 'nothing')).toBe('stalled');
    expect(await boards.stall(hold, 's', 'nothing')).toBe('stalled');
    expect(
      await boards.events(jobId, '0-0', 100).then((all) => all.filter(({ type }) => type === 'job.paused')),
    ).toHaveLength(1);
    expect((await boards.task(jobId, lead)).readiness).toEqual({ state: 'held', cause: 'pause' });
    const before = await boards.readOutbox(jobId, 100);
    const reopens = [{ taskId, version: (await boards.task(jobId, taskId)).version, reason: 'again' }];
    await boards.change(jobId, { by: ANN, maxAttempts: 3, reopens });
    const queued = (await boards.readOutbox(jobId, 100)).slice(before.length).map((entry) => entry.taskId);
    expect(queued.sort()).toEqual([lead, taskId].sort());
    expect((await boards.job(jobId)).status).toBe('running');
    expect((await boards.examine(jobId)).findings.filter(({ check }) => check !== 'live')).toEqual([]);
  });
});
