import { describe, expect, it } from 'vitest';
import { ANN, openBoardFixture } from '../support/board.ts';
import { dumpBoard } from '../support/board-dump.ts';

/** What the doctor brought to light. Each test states how it must be; move it beside its like once it holds. */

const SET_FORMAT = `local B = cmsgpack.unpack(redis.call('HGET', KEYS[1], '@'))
B[1] = 2
redis.call('HSET', KEYS[1], '@', cmsgpack.pack(B))`;
const RESULT = { summary: 'done', artifacts: [], evidence: [] };

describe('a scheduled task', () => {
  it('leaves the due set when its dependency is reopened', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B', dependsOn: ['a'] },
    ]);
    await boards.index.addLive(jobId);
    const a = await board.claim(jobId, ids.a ?? '');
    await boards.submit(a.hold, 'r1', a.task.version, RESULT);
    const b = await board.claim(jobId, ids.b ?? '');
    await boards.park(b.hold, 'r2', { delayMs: 60_000, reason: 'busy', strikesToFail: 0 });
    const version = (await boards.task(jobId, ids.a ?? '')).version;
    const reopens = [{ taskId: ids.a ?? '', version, reason: 'again' }];
    await boards.change(jobId, { by: ANN, maxAttempts: 3, reopens });
    expect((await boards.task(jobId, ids.b ?? '')).readiness).toEqual({ state: 'waiting', on: [ids.a] });
    expect((await boards.examine(jobId)).findings).toEqual([]);
  });
});

describe('a board in a newer format', () => {
  it.each(['dispatch', 'settle', 'lost', 'cancel', 'cascade'] as const)(
    'is not changed by carrying out %s',
    async (kind) => {
      await using board = await openBoardFixture();
      const { boards, store } = board;
      const { jobId, ids } = await board.job(
        [
          { key: 'a', title: 'A' },
          { key: 'b', title: 'B', dependsOn: ['a'] },
        ],
        { limits: { maxParallel: 1 } },
      );
      const taskId = ids.a ?? '';
      const slices = boards.keys.board(jobId, 'slices');
      await store.redis.hset(slices, taskId, '0', `lost:${taskId}`, '1');
      await store.redis.hset(slices, `cascade:${taskId}`, '{"start":0,"reason":"","by":"user:ann"}');
      if (kind === 'cancel') await boards.cancelJob(jobId, 'user:ann', '');
      await store.redis.eval(SET_FORMAT, 1, boards.keys.board(jobId, 'hot'));
      const before = await dumpBoard(store, boards, jobId);
      await expect(boards.carryOut(jobId, { kind, taskId })).rejects.toMatchObject({ code: 'unavailable' });
      expect(await dumpBoard(store, boards, jobId)).toEqual(before);
    },
  );

  it('has no attempts to tell of, and is not deleted', async () => {
    await using board = await openBoardFixture();
    const { boards, store } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }], { flip: false });
    await store.redis.eval(SET_FORMAT, 1, boards.keys.board(jobId, 'hot'));
    const newer = { code: 'unavailable' };
    await expect.soft(boards.attempts(jobId, ids.a ?? '', 1)).rejects.toMatchObject(newer);
    await expect.soft(boards.drop(jobId, 0)).rejects.toMatchObject(newer);
  });
});
