import { newJobId } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { openBoardFixture } from '../support/board.ts';

it('lists the jobs of a project page by page, the newest first', async () => {
  await using fixture = await openBoardFixture();
  const { index } = fixture.boards;
  const [old, middle, young] = [newJobId(), newJobId(), newJobId()];
  await index.list(old, 'default', 1);
  await index.list(middle, 'default', 2);
  await index.list(young, 'default', 3);
  expect(await index.listed('default', 2)).toEqual([young, middle]);
  expect(await index.listed('default', 2, middle)).toEqual([old]);
  expect(await index.listed('default', 2, old)).toEqual([]);
});

it('refuses a cursor that is no job of the list, also one of another project', async () => {
  await using fixture = await openBoardFixture();
  const { index } = fixture.boards;
  const [mine, foreign] = [newJobId(), newJobId()];
  await index.list(mine, 'default', 1);
  await index.list(foreign, 'other', 2);
  for (const cursor of ['zzz', '', newJobId(), foreign]) {
    await expect(index.listed('default', 2, cursor)).rejects.toMatchObject({
      code: 'invalid_argument',
      extras: { path: 'cursor' },
    });
  }
});
