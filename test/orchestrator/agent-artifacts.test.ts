import { describe, expect, it } from 'vitest';
import { agentArtifacts } from '../../packages/orchestrator/src/artifacts/agent-artifacts.ts';
import { openTestStore } from '../support/artifacts.ts';
import { ANN, openBoardFixture } from '../support/board.ts';

const RESULT = { summary: 'done', evidence: [] };

/** Tasks `a` and `c`, which have submitted a file each, and `b`, which is held and depends on `a` only. */
async function openRig() {
  const board = await openBoardFixture();
  const store = await openTestStore();
  const { boards } = board;
  const { jobId, ids } = await board.job([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
    { key: 'c', title: 'C' },
  ]);
  const submitted = async (taskId = '') => {
    const { hold, task } = await board.claim(jobId, taskId);
    const { ref } = await store.put(board, hold, `${taskId}.txt`, `of ${taskId}`);
    await boards.submit(hold, 's', task.version, RESULT);
    return ref;
  };
  const refs = { a: await submitted(ids.a), c: await submitted(ids.c) };
  const { hold, task } = await board.claim(jobId, ids.b ?? '');
  const places = { boards, artifacts: store.artifacts };
  return {
    boards,
    jobId,
    ids,
    refs,
    hold,
    access: agentArtifacts(places, hold, task),
    lead: agentArtifacts(places, hold),
    /** Reopens a task, and stores a file of the new attempt that nobody has submitted. */
    draftAgain: async (taskId: string) => {
      const { version } = await boards.task(jobId, taskId);
      await boards.change(jobId, {
        by: ANN,
        maxAttempts: 3,
        reopens: [{ taskId, version, reason: 'again' }],
      });
      const { hold } = await board.claim(jobId, taskId);
      return store.put(board, hold, 'draft.txt', 'a draft');
    },
    claim: () => board.claim(jobId, ids.b ?? ''),
    accessOf: (held: Awaited<ReturnType<typeof board.claim>>) => agentArtifacts(places, held.hold, held.task),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await board[Symbol.asyncDispose]();
    },
  };
}

describe('an artifact that a sub-agent names', () => {
  it('is found when a dependency has submitted it', async () => {
    await using rig = await openRig();
    expect(await rig.access.find(rig.refs.a)).toMatchObject({ taskId: rig.ids.a });
  });

  it('of any other task is refused with that task, and with the call that makes it readable', async () => {
    await using rig = await openRig();
    const refusal = rig.access.find(rig.refs.c);
    await expect(refusal).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining(`is of task ${rig.ids.c}, on which yours does not depend`),
      extras: {
        next: expect.stringContaining(
          `board_block {"taskId":"${rig.ids.b}","kind":"dependency","on":"${rig.ids.c}"`,
        ),
      },
    });
    await rig.boards.block(rig.hold, 'b', { kind: 'dependency', on: rig.ids.c ?? '', reason: 'its file' });
    const next = rig.accessOf(await rig.claim());
    expect(await next.find(rig.refs.c)).toMatchObject({ taskId: rig.ids.c });
  });

  it('is told to be in no result when the job has none of that name', async () => {
    await using rig = await openRig();
    for (const access of [rig.access, rig.lead]) {
      await expect(access.find('a_nowhere')).rejects.toMatchObject({
        code: 'not_found',
        detail: 'this job has no artifact "a_nowhere".',
      });
    }
  });

  it('that a dependency, begun again, has not submitted yet is refused with just that', async () => {
    await using rig = await openRig();
    const draft = await rig.draftAgain(rig.ids.a ?? '');
    await expect(rig.access.find(draft.ref)).rejects.toMatchObject({
      code: 'not_found',
      detail: `the artifact "${draft.ref}" is of task ${rig.ids.a}, which has not submitted it.`,
    });
  });
});
