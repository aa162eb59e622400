import { newJobId } from '@crewboard/contracts';
import { createArtifactSweeper } from '@crewboard/orchestrator';
import { describe, expect, it } from 'vitest';
import { putArtifact } from '../../packages/orchestrator/src/artifacts/put-artifact.ts';
import { openTestStore, type TestStore, textOf } from '../support/artifacts.ts';
import { type BoardFixture, openBoardFixture } from '../support/board.ts';

const NEVER = new AbortController().signal;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const RESULT = { summary: 'done', evidence: [] };

const sweeperOf = (board: BoardFixture, store: TestStore, orphanMs?: number) =>
  createArtifactSweeper({
    boards: board.boards,
    artifacts: store.artifacts,
    log: SILENT,
    ...(orphanMs === undefined ? {} : { orphanMs }),
  });

describe('the sweep of artifacts', () => {
  it('removes contents without an artifact once they are old, also by two at once, and no other', async () => {
    await using board = await openBoardFixture();
    await using store = await openTestStore();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const a = await board.claim(jobId, ids.a ?? '');
    const kept = await store.put(board, a.hold, 'kept.txt', 'kept');
    const b = await board.claim(jobId, ids.b ?? '');
    await store.put(board, b.hold, 'lost.txt', 'of a failed attempt');
    const failure = { class: 'model', reason: 'no', retryable: false, delayMs: 0, infraStrikes: 3 } as const;
    await board.boards.fail(b.hold, 'f', failure);
    await store.artifacts.put(jobId, Buffer.from('its process died before the commit'), NEVER);
    expect(await store.names(jobId)).toHaveLength(3);

    expect(await sweeperOf(board, store).sweepJob(jobId, NEVER)).toBe(0);
    const sweepers = [sweeperOf(board, store, 0), sweeperOf(board, store, 0)];
    const swept = await Promise.all(sweepers.map((sweeper) => sweeper.sweepJob(jobId, NEVER)));
    expect(swept.reduce((sum, each) => sum + each)).toBe(2);
    expect(await store.names(jobId)).toEqual([kept.sha256]);

    await board.boards.submit(a.hold, 's', a.task.version, RESULT);
    expect(await sweeperOf(board, store, 0).sweepJob(jobId, NEVER)).toBe(0);
    expect(await textOf(await store.artifacts.read(jobId, kept.sha256))).toBe('kept');
  });

  it('between put and commit costs nothing: the content is there afterwards', async () => {
    await using board = await openBoardFixture();
    await using store = await openTestStore();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const { hold } = await board.claim(jobId, ids.a ?? '');
    const sweeper = sweeperOf(board, store, 0);
    const commitAfterSweep: BoardFixture['boards']['commitArtifact'] = async (...call) => {
      expect(await sweeper.sweepJob(jobId, NEVER)).toBe(1);
      return board.boards.commitArtifact(...call);
    };
    const boards = { ...board.boards, commitArtifact: commitAfterSweep };
    const file = { path: 'a.txt', content: Buffer.from('mine'), isKept: false };
    const call = { requestId: '1/t1', signal: NEVER };
    const made = await putArtifact({ boards, artifacts: store.artifacts }, hold, file, call);
    expect(await textOf(await store.artifacts.read(jobId, made.sha256))).toBe('mine');
    expect(await sweeper.sweepJob(jobId, NEVER)).toBe(0);
  });

  it('leaves the contents of a job alone that this Redis does not know', async () => {
    await using board = await openBoardFixture();
    await using store = await openTestStore();
    const jobId = newJobId();
    const { sha256 } = await store.artifacts.put(jobId, Buffer.from('of another Redis'), NEVER);
    expect(await sweeperOf(board, store, 0).sweepJob(jobId, NEVER)).toBe(0);
    expect(await store.names(jobId)).toEqual([sha256]);
  });

  it('looks at an ended job until nothing young is left, and again when it was opened', async () => {
    await using board = await openBoardFixture();
    await using store = await openTestStore();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const { hold, task } = await board.claim(jobId, ids.a ?? '');
    await board.boards.submit(hold, 's', task.version, RESULT);
    expect((await board.boards.job(jobId)).status).toBe('succeeded');
    const sweeper = sweeperOf(board, store, 0);
    await store.artifacts.put(jobId, Buffer.from('late'), NEVER);
    expect(await sweeper.sweepJob(jobId, NEVER)).toBe(1);
    await store.artifacts.put(jobId, Buffer.from('after that'), NEVER);
    expect(await sweeper.sweepJob(jobId, NEVER)).toBe(0);
    const { version } = await board.boards.task(jobId, task.id);
    const reopens = [{ taskId: task.id, version, reason: 'again' }];
    await board.boards.change(jobId, { by: { kind: 'user', id: 'ann' }, maxAttempts: 3, reopens });
    expect(await sweeper.sweepJob(jobId, NEVER)).toBe(1);
  });
});
