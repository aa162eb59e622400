import { foldEvents } from '@crewboard/board';
import { describe, expect, it } from 'vitest';
import { ANN, openBoardFixture } from '../../support/board.ts';

const result = { summary: 'done', artifacts: [], evidence: [] };

/** The random histories of model.test.ts fold to what the board stores; these show how to read a fold. */
describe('foldEvents', () => {
  it('tells each task’s status, owner, attempt, version, dependencies and the last outcome', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const [a, b] = [ids.a ?? '', ids.b ?? ''];
    const first = await board.claim(jobId, a);
    await boards.block(first.hold, 'r1', { kind: 'dependency', reason: 'needs b', on: b });
    const other = await board.claim(jobId, b, 'worker-2');
    await boards.submit(other.hold, 'r2', other.task.version, result);

    const { tasks, jobStatus } = foldEvents(await boards.events(jobId, '0-0', 100));
    expect(jobStatus).toBe('running');
    expect(tasks.get(a)).toEqual({
      status: 'pending',
      version: 3,
      attempt: 1,
      owner: undefined,
      dependsOn: [{ task: b, condition: 'completed' }],
      outcome: { kind: 'blocked' },
    });
    expect(tasks.get(b)).toEqual({
      status: 'completed',
      version: 3,
      attempt: 1,
      owner: undefined,
      dependsOn: [],
      outcome: { kind: 'completed' },
    });
  });

  it('shows a job as paused until it is resumed or ends, and again when it is reopened', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const statusNow = async () => foldEvents(await boards.events(jobId, '0-0', 100)).jobStatus;
    const held = await board.claim(jobId, ids.a ?? '');
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    expect(await statusNow()).toBe('paused');
    await boards.submit(held.hold, 'r', held.task.version, result);
    expect(await statusNow()).toBe('succeeded');
    await boards.change(jobId, {
      by: ANN,
      maxAttempts: 3,
      reopens: [{ taskId: ids.a ?? '', version: 3, reason: 'again' }],
    });
    expect(await statusNow()).toBe('paused');
    await boards.resumeJob(jobId, ANN);
    expect(await statusNow()).toBe('running');
  });
});
