import { expect, it } from 'vitest';
import { ANN, openBoardFixture } from '../support/board.ts';

const refusedWith = (code: string, extras: object = {}) =>
  expect.objectContaining({ code, extras: expect.objectContaining(extras) });

it('cycles and unknown keys are refused with their path, the whole batch unchanged; forward references are fine', async () => {
  await using board = await openBoardFixture();
  const { boards } = board;
  const { jobId, ids } = await board.job([
    { key: 'A', title: 'A' },
    { key: 'B', title: 'B' },
  ]);
  const [a, b] = [ids.A ?? '', ids.B ?? ''];
  const before = await boards.page(jobId, { after: 0, limit: 100 });
  const edit = (taskId: string, dependsOn: string[]) =>
    boards.change(jobId, { by: ANN, maxAttempts: 3, edits: [{ taskId, version: 1, patch: { dependsOn } }] });
  const add = (tasks: { key: string; title: string; dependsOn?: string[] }[]) =>
    boards.add(jobId, { by: ANN, maxAttempts: 3, tasks });

  await expect(edit(a, ['A'])).rejects.toEqual(refusedWith('dependency_cycle', { cycle: [a, a] }));
  const cycle = [
    { key: 'x', title: 'X', dependsOn: ['z'] },
    { key: 'y', title: 'Y', dependsOn: ['x'] },
    { key: 'z', title: 'Z', dependsOn: ['y'] },
  ];
  await expect(add(cycle)).rejects.toEqual(refusedWith('dependency_cycle', { cycle: ['x', 'z', 'y', 'x'] }));
  await expect(
    add([
      { key: 'm', title: 'M' },
      { key: 'n', title: 'N', dependsOn: ['nobody'] },
    ]),
  ).rejects.toEqual(refusedWith('unknown_dependency', { reference: 'nobody' }));
  expect(await boards.page(jobId, { after: 0, limit: 100 })).toEqual(before);

  await edit(a, ['B']);
  await expect(edit(b, ['A'])).rejects.toEqual(refusedWith('dependency_cycle', { cycle: [b, a, b] }));
  const forward = await add([
    { key: 'first', title: 'First', dependsOn: ['second'] },
    { key: 'second', title: 'Second' },
  ]);
  expect(forward.map(({ number }) => number)).toEqual([3, 4]);
  expect((await boards.job(jobId)).counts).toMatchObject({ total: 4, ready: 2, waiting: 2 });
});
