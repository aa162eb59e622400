import { newSecret } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { openBoardFixture } from '../support/board.ts';

it('a park that was not its doing keeps its cause, another one has none', async () => {
  await using board = await openBoardFixture();
  const { jobId, ids } = await board.job([{ title: 'A' }]);
  const taskId = ids.A ?? '';
  const parkAs = async (park: { reason: string; cause?: 'model_down' }) => {
    const { hold } = await board.claim(jobId, taskId);
    await board.boards.park(hold, newSecret(), { delayMs: 0, strikesToFail: 'kept', ...park });
  };
  await parkAs({ reason: 'it answers nobody', cause: 'model_down' });
  await parkAs({ reason: 'busy' });
  const [down, busy] = await board.boards.attempts(jobId, taskId, 2);
  expect(down).toMatchObject({ outcome: 'parked', cause: 'model_down', reason: 'it answers nobody' });
  expect(down).not.toHaveProperty('answer');
  expect(busy).toMatchObject({ outcome: 'parked', reason: 'busy' });
  expect(busy).not.toHaveProperty('cause');
});
