import type { TaskChanges } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN, openBoardFixture } from '../support/board.ts';
import { fillLog, LONG, TOO_LONG } from '../support/fill-log.ts';

const BOB = { kind: 'user' as const, id: 'bob' };
const RESULT = { summary: 'done', artifacts: [], evidence: [] };

/** A job with a task `a` that a sub-agent `worker` holds at version 2, and a task `b`. */
async function open() {
  const board = await openBoardFixture();
  const { jobId, ids } = await board.job([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B' },
    { key: 'c', title: 'C' },
  ]);
  const [a, b] = [ids.a ?? '', ids.b ?? ''];
  const { hold } = await board.claim(jobId, a, 'worker');
  const { boards } = board;
  return {
    board,
    jobId,
    a,
    b,
    hold,
    edit: (version: number, patch: TaskChanges, by = ANN) =>
      boards.change(jobId, { by, edits: [{ taskId: a, version, patch }] }),
    note: (text: string) => boards.note(hold, `note ${text}`, text),
    submit: (version: number) => boards.submit(hold, `submit ${version}`, version, RESULT),
    [Symbol.asyncDispose]: () => board[Symbol.asyncDispose](),
  };
}

/** What a refused call tells of changes. */
async function toldOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'stale_version' });
  return error instanceof Error && 'extras' in error ? error.extras : undefined;
}

describe('what changed since a version', () => {
  it('is no field for notes and messages, and an edit keeps its own time and author', async () => {
    await using at = await open();
    const { boards } = at.board;
    await at.edit(2, { title: 'New' }, BOB);
    const edited = (await boards.taskEvents(at.jobId, at.a, 1))[0];
    await at.note('one');
    await boards.sendMessage(at.jobId, { text: 'hello', taskId: at.a, by: ANN });
    await at.note('two');
    expect(await toldOf(at.submit(2))).toMatchObject({
      changedSince: [{ field: 'title', version: 3, by: 'bob', at: edited?.at }],
    });
    expect(await toldOf(at.submit(2))).not.toHaveProperty('olderChangesMissing');
  });

  it('is the status only by what moved it last, with that time and author', async () => {
    await using at = await open();
    const claimed = (await at.board.boards.taskEvents(at.jobId, at.a, 1))[0];
    expect(claimed?.type).toBe('task.claimed');
    await at.note('one');
    expect(await toldOf(at.edit(1, { title: 'New' }))).toMatchObject({
      changedSince: [{ field: 'status', version: 2, by: 'worker', at: claimed?.at }],
    });
    // A task that waits is told to be unreachable by the board; the word on it is that of who cancelled the other one.
    await at.board.boards.change(at.jobId, {
      by: BOB,
      edits: [{ taskId: at.b, version: 1, patch: { dependsOn: ['a'] } }],
    });
    const cancels = [{ taskId: at.a, version: 2, reason: 'no' }];
    await at.board.boards.change(at.jobId, { by: ANN, cancels });
    expect((await at.board.boards.taskEvents(at.jobId, at.b, 1))[0]?.type).toBe('task.unreachable');
    const edits = [{ taskId: at.b, version: 1, patch: { title: 'X' } }];
    expect(await toldOf(at.board.boards.change(at.jobId, { by: ANN, edits }))).toMatchObject({
      changedSince: [{ field: 'dependsOn', version: 2, by: 'bob' }],
    });
  });

  it.each([
    ['101 notes of its own', 'a', 101],
    ['pages of events of another task', 'b', LONG],
  ] as const)('is found behind %s', async (_, about, count) => {
    await using at = await open();
    await at.edit(2, { instructions: 'Otherwise' });
    await (about === 'a'
      ? fillLog(at.board, at.jobId, { taskId: at.a, version: 3 }, count)
      : fillLog(at.board, at.jobId, { taskId: at.b }, count));
    const told = await toldOf(at.submit(2));
    expect(told).toMatchObject({ changedSince: [{ field: 'instructions', version: 3, by: 'ann' }] });
    expect(told).not.toHaveProperty('olderChangesMissing');
  });

  it.runIf(TOO_LONG)(
    'says that older changes may be missing where the log since then is too long',
    async () => {
      await using at = await open();
      await at.edit(2, { instructions: 'Otherwise' }, BOB);
      await fillLog(at.board, at.jobId, { taskId: at.b }, TOO_LONG ?? 0);
      await at.edit(3, { title: 'New' });
      expect(await toldOf(at.submit(2))).toMatchObject({
        changedSince: [{ field: 'title', version: 4, by: 'ann' }],
        olderChangesMissing: true,
      });
      // The edit of version 4 tells that nothing before it is newer than what was seen.
      await at.edit(4, { priority: 0 });
      const told = await toldOf(at.submit(4));
      expect(told).toMatchObject({ changedSince: [{ field: 'priority', version: 5 }] });
      expect(told).not.toHaveProperty('olderChangesMissing');
    },
  );
});

it('the limits of a job that changed are found behind what its tasks did', async () => {
  await using at = await open();
  const { boards } = at.board;
  const { spec } = await boards.job(at.jobId);
  const editJob = (version: number, changed: { maxTasks?: number; maxParallel?: number }) =>
    boards.editJob(spec, { by: ANN, version, limits: { ...spec.limits, ...changed }, changed });
  await editJob(1, { maxTasks: 50 });
  await fillLog(at.board, at.jobId, { taskId: at.b }, LONG);
  const told = await toldOf(editJob(1, { maxParallel: 3 }));
  expect(told).toMatchObject({ changedSince: [{ field: 'limits.maxTasks', version: 2, by: 'ann' }] });
  expect(told).not.toHaveProperty('olderChangesMissing');
});
