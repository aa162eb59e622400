import { NO_USAGE, newSecret } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { continuationOf } from '../../packages/orchestrator/src/sub-agent/shown-task.ts';
import { ANN, openBoardFixture } from '../support/board.ts';
import { fillLog, LONG, TOO_LONG } from '../support/fill-log.ts';

const RESULT = { summary: 'done', artifacts: [], evidence: [] };

const REPLY = {
  kind: 'reply' as const,
  messageId: 'msg_1',
  model: 'm',
  content: [{ type: 'text', text: 'Done.' }],
  stopReason: 'end_turn',
  usage: NO_USAGE,
};

/** A job with a task that one attempt has held, and the log filled with so many events of another task since. */
async function open(end: 'release' | 'submit') {
  const board = await openBoardFixture();
  const { boards } = board;
  const { jobId, ids } = await board.job([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B' },
  ]);
  const [a, b] = [ids.a ?? '', ids.b ?? ''];
  const { hold, task } = await board.claim(jobId, a);
  const journal = await boards.openJournal(hold, { attempt: 1 });
  await journal.append({ kind: 'message', texts: ['Do A'] });
  await journal.append(REPLY);
  if (end === 'release') await boards.release(hold, newSecret(), 'not now');
  else await boards.submit(hold, newSecret(), task.version, RESULT);
  return {
    boards,
    board,
    jobId,
    a,
    version: task.version + 1,
    fillLog: (count: number) => fillLog(board, jobId, { taskId: b }, count),
    continuation: async () =>
      continuationOf(boards, jobId, await boards.task(jobId, a), {
        earlier: await boards.attempts(jobId, a, (await boards.task(jobId, a)).attempt),
        entries: await boards.readJournal(jobId, a),
      }),
    [Symbol.asyncDispose]: () => board[Symbol.asyncDispose](),
  };
}

const wasEdited = [expect.stringContaining('Your task was edited. It is now:')];

it('the next attempt is shown an edit that lies far back in the log, and nothing without one', async () => {
  await using at = await open('release');
  await at.fillLog(LONG);
  expect(await at.continuation()).toEqual({});
  const edits = [{ taskId: at.a, version: at.version, patch: { title: 'New' } }];
  await at.boards.change(at.jobId, { by: ANN, edits });
  await at.fillLog(LONG);
  expect(await at.continuation()).toEqual({ continuation: wasEdited });
});

it('the next attempt is told why the task was opened again, however much happened since', async () => {
  await using at = await open('submit');
  const reopens = [{ taskId: at.a, version: at.version, reason: 'add the table' }];
  await at.boards.change(at.jobId, { by: ANN, reopens });
  await at.fillLog(LONG);
  const { endedCallAnswer } = await at.continuation();
  expect(endedCallAnswer).toContain('add the table');
});

it.runIf(TOO_LONG)('a log that is too long to tell counts as an edit: the task is shown', async () => {
  await using at = await open('release');
  await at.fillLog(TOO_LONG ?? 0);
  expect(await at.continuation()).toEqual({ continuation: wasEdited });
});

it('the next attempt is told why the task was opened again, also when one before it was lost in silence', async () => {
  await using at = await open('submit');
  const reopens = [{ taskId: at.a, version: at.version, reason: 'add the table' }];
  await at.boards.change(at.jobId, { by: ANN, reopens });
  for (const loss of ['first', 'second']) {
    const { hold, task } = await at.board.claim(at.jobId, at.a);
    const journal = await at.boards.openJournal(hold, { attempt: task.attempt });
    await journal.append({ kind: 'message', texts: ['Your task was edited.'] });
    await at.boards.release(hold, newSecret(), loss);
    expect((await at.continuation()).endedCallAnswer).toContain('add the table');
  }
});
