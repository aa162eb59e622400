import { newSecret } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { type BoardFixture, openBoardFixture } from '../support/board.ts';

async function claimOutside(
  { boards }: BoardFixture,
  jobId: string,
  more: { taskId?: string; leaseMs?: number; requestId?: string; kind?: 'human' },
) {
  const claimed = await boards.claim(jobId, {
    ...(more.taskId === undefined ? {} : { taskId: more.taskId }),
    owner: { kind: more.kind ?? 'external', id: 'bob' },
    secret: newSecret(),
    requestId: more.requestId ?? newSecret(),
    leaseMs: more.leaseMs ?? 60_000,
  });
  if (claimed === undefined) throw new Error('nothing was claimed');
  return { ...claimed, hold: { jobId, taskId: claimed.task.id, token: claimed.token } };
}
const sweep = ({ boards }: BoardFixture, jobId: string) =>
  boards.sweep(jobId, { intervalMs: 0, leaseMs: 1_000_000, strikes: 3, staleMs: 1000 });

it('an external task whose lease runs out again and again is no strike', async () => {
  await using board = await openBoardFixture();
  const { jobId, ids } = await board.job([{ key: 'a', title: 'A', executor: 'external' }]);
  const a = ids.a ?? '';
  for (let i = 0; i < 5; i++) {
    await claimOutside(board, jobId, { taskId: a, leaseMs: 1 });
    await expect
      .poll(async () => {
        await sweep(board, jobId);
        return (await board.boards.task(jobId, a)).status;
      })
      .not.toBe('in_progress');
    expect((await board.boards.task(jobId, a)).status).toBe('pending');
  }
});

it('a heartbeat of leaseMs 0 leaves a claim without a lease', async () => {
  await using board = await openBoardFixture();
  const { jobId } = await board.job([{ key: 'a', title: 'A', executor: 'human' }]);
  const { hold } = await claimOutside(board, jobId, { kind: 'human', leaseMs: 0 });
  await board.boards.heartbeat(hold, 0);
  await sweep(board, jobId);
  expect(await board.boards.task(jobId, hold.taskId)).toMatchObject({ status: 'in_progress' });
  expect((await board.boards.task(jobId, hold.taskId)).leaseUntil).toBeUndefined();
});

it('a claim of the next task, repeated under its request ID, answers the same token', async () => {
  await using board = await openBoardFixture();
  const { jobId } = await board.job([
    { title: 'A', executor: 'external' },
    { title: 'B', executor: 'external' },
  ]);
  const first = await claimOutside(board, jobId, { requestId: 'r' });
  expect((await claimOutside(board, jobId, { requestId: 'r' })).token).toBe(first.token);
});

it('a list of what is held shows proposals', async () => {
  await using board = await openBoardFixture();
  const { jobId } = await board.job([{ key: 'a', title: 'A', executor: 'external' }]);
  const { hold } = await claimOutside(board, jobId, {});
  const { taskId } = await board.boards.propose(
    hold,
    'r',
    { title: 'P' },
    { kind: 'external', id: 'bob' },
    3,
  );
  const page = await board.boards.page(jobId, { readiness: 'held', after: 0, limit: 10 });
  expect(page.tasks.map(({ id }) => id)).toEqual([taskId]);
});

it('a list by status shows proposals among what is pending, and rejected ones among what was cancelled', async () => {
  await using board = await openBoardFixture();
  const { jobId } = await board.job([{ key: 'a', title: 'A', executor: 'external' }]);
  const { hold } = await claimOutside(board, jobId, {});
  const bob = { kind: 'external', id: 'bob' } as const;
  const { taskId } = await board.boards.propose(hold, 'r', { title: 'P' }, bob, 3);
  const listed = async (status: 'pending' | 'cancelled') =>
    (await board.boards.page(jobId, { status, after: 0, limit: 10 })).tasks.map(({ id }) => id);
  expect([await listed('pending'), await listed('cancelled')]).toEqual([[taskId], []]);
  const by = { kind: 'user', id: 'ann' } as const;
  await board.boards.resolve(jobId, { taskId, version: 1, decision: 'reject', text: '', by });
  expect([await listed('pending'), await listed('cancelled')]).toEqual([[], [taskId]]);
});

it('a stale block, fail and release are told what changed since', async () => {
  await using board = await openBoardFixture();
  const { boards } = board;
  const { jobId } = await board.job([{ key: 'a', title: 'A', executor: 'external' }]);
  const { hold } = await claimOutside(board, jobId, {});
  await boards.change(jobId, {
    by: { kind: 'user', id: 'ann' },
    maxAttempts: 3,
    edits: [{ taskId: hold.taskId, version: 2, patch: { title: 'New' } }],
  });
  const stale = expect.objectContaining({
    code: 'stale_version',
    extras: expect.objectContaining({ changedSince: [expect.objectContaining({ field: 'title' })] }),
  });
  await expect(boards.release(hold, '', '', 2)).rejects.toEqual(stale);
  await expect(boards.block(hold, '', { kind: 'needs_input', reason: 'x', version: 2 })).rejects.toEqual(
    stale,
  );
  await expect(
    boards.fail(hold, '', {
      class: 'model',
      reason: 'x',
      retryable: true,
      delayMs: 0,
      infraStrikes: 3,
      version: 2,
    }),
  ).rejects.toEqual(stale);
});
