import { describe, expect, it } from 'vitest';
import { openBoardFixture } from '../support/board.ts';

/** More tasks than one script adds. */
const MANY = 1200;

describe('a job of more tasks than one script adds', () => {
  it('may name parents, what it replaces and dependencies anywhere in its list', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const tasks = Array.from({ length: MANY }, (_, i) => ({
      key: `k${i}`,
      title: `Task ${i}`,
      // Its parent is the last one, which depends on the first: no order has both parents and dependencies first.
      ...(i === 0 ? { parent: `k${MANY - 1}` } : {}),
      ...(i === 1 ? { replaces: `k${MANY - 2}` } : {}),
      ...(i === 2 ? { dependsOn: [`k${MANY - 3}`] } : {}),
      ...(i === MANY - 1 ? { dependsOn: ['k0'], parent: 'k5' } : {}),
    }));
    const { jobId, ids } = await board.job(tasks);
    const task = (key: string) => boards.task(jobId, ids[key] ?? '');
    expect((await task('k0')).parent).toBe(ids[`k${MANY - 1}`]);
    expect((await task('k1')).replaces).toBe(ids[`k${MANY - 2}`]);
    expect((await task('k2')).dependsOn).toEqual([{ task: ids[`k${MANY - 3}`], condition: 'completed' }]);
    expect(await task(`k${MANY - 1}`)).toMatchObject({
      parent: ids.k5,
      dependsOn: [{ task: ids.k0, condition: 'completed' }],
    });
    expect((await boards.job(jobId)).counts.total).toBe(MANY);
  });
});
