import type { Boards } from '@crewboard/board';
import { putArtifact } from '../../packages/orchestrator/src/artifacts/put-artifact.ts';
import { drainOutbox } from '../board/random-history.ts';
import { ANN } from './board.ts';
import { converse, message, NEVER, type RetentionRig, reply } from './retention.ts';

const RESULT: Parameters<Boards['submit']>[3] = {
  summary: 'done',
  output: { words: 3 },
  evidence: [{ kind: 'statement', text: 'seen' }],
};
const FAILURE = {
  class: 'model',
  reason: 'it gave up',
  retryable: false,
  delayMs: 0,
  infraStrikes: 3,
} as const;

/** What a test knows of the job. */
export interface EndedJob {
  jobId: string;
  /** By key: `done`, `again`, `failed`, `behind`, `cancelled`. */
  ids: Record<string, string>;
  /** By path, of those that `done` has stored. */
  refs: Record<string, string>;
}

/**
 * A job that has ended `partial` and has all that a board can have then: tasks that are completed, failed, cancelled and
 * unreachable, a rejected proposal, texts, labels, files of which one was replaced, conversations, several attempts.
 */
export async function endedJob(rig: RetentionRig): Promise<EndedJob> {
  const { board, artifacts } = rig;
  const { boards } = board;
  const { jobId, ids } = await board.job([
    { key: 'done', title: 'Done', instructions: 'Do it', input: { file: 'a.md' }, labels: ['red', 'big'] },
    { key: 'again', title: 'Again', labels: ['red'], dependsOn: ['done'] },
    { key: 'failed', title: 'Failed', outputSchema: { type: 'object' } },
    { key: 'behind', title: 'Behind', dependsOn: ['failed'] },
    { key: 'cancelled', title: 'Cancelled' },
  ]);
  const idOf = (key: string) => ids[key] ?? '';

  const done = await board.claim(jobId, idOf('done'));
  await converse(boards, done, { kind: 'start', fresh: true }, message('the task'), reply('the answer'));
  const refs: Record<string, string> = {};
  for (const [path, content] of [
    ['a.txt', 'old'],
    ['b/c.txt', 'other'],
    ['a.txt', 'new'],
  ] as const) {
    const file = { path, content: Buffer.from(content), isKept: false };
    const call = { requestId: `${path}/${content}`, signal: NEVER };
    refs[path] = (await putArtifact({ boards, artifacts }, done.hold, file, call)).ref;
  }
  await boards.note(done.hold, 'n', 'half of it', { progress: '1/2' });
  const proposed = await boards.propose(done.hold, 'p', { title: 'More' }, { kind: 'sub-agent', id: 'w' });
  await boards.submit(done.hold, 's', done.task.version, RESULT);
  await boards.resolve(jobId, {
    by: ANN,
    taskId: proposed.taskId,
    version: 1,
    decision: 'reject',
    text: 'no',
  });

  const first = await board.claim(jobId, idOf('again'));
  await converse(boards, first, { kind: 'start', fresh: true }, message('begin'), reply('half'));
  await boards.release(first.hold, 'r', 'the worker stops');
  const second = await board.claim(jobId, idOf('again'));
  await converse(boards, second, { kind: 'start', fresh: false }, reply('whole'));
  await boards.submit(second.hold, 's', second.task.version, RESULT);

  const failed = await board.claim(jobId, idOf('failed'));
  await converse(boards, failed, { kind: 'start', fresh: true }, message('a try'), reply('no way'));
  await boards.fail(failed.hold, 'f', FAILURE);
  const { version } = await boards.task(jobId, idOf('cancelled'));
  const cancels = [{ taskId: idOf('cancelled'), version, reason: 'not needed' }];
  await boards.change(jobId, { by: ANN, cancels });
  await drainOutbox(boards, jobId);
  return { jobId, ids: { ...ids, proposed: proposed.taskId }, refs };
}
