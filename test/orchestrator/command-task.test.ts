import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Boards, openBoards } from '@crewboard/board';
import { CrewboardError, parseEnvironment } from '@crewboard/contracts';
import { settingsFrom } from '@crewboard/orchestrator';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { prepareCommand } from '../../packages/orchestrator/src/command/run-command-task.ts';
import { keepLease } from '../../packages/orchestrator/src/lease.ts';
import { createJobTools } from '../../packages/orchestrator/src/work-tools.ts';
import { folderWith, type TestFolder } from '../regression/support.ts';
import { type BoardFixture, openBoardFixture } from '../support/board.ts';

const workTools = createJobTools(settingsFrom(parseEnvironment({}), process.cwd(), 'host'));
const never = new AbortController().signal;

let board: BoardFixture;
let folder: TestFolder;

beforeAll(async () => {
  board = await openBoardFixture();
  folder = await folderWith({});
});

afterAll(async () => {
  await board?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

/** Claims the one task of a job that runs `run`; `prepare` prepares the attempt as a worker does. */
async function claimCommand(run: string, workspace = folder.path) {
  const { jobId, ids } = await board.job([{ key: 'a', title: 'A', executor: 'command', command: { run } }]);
  const claimed = await board.claim(jobId, ids.a ?? '');
  const { spec, lead, version } = await board.boards.job(jobId);
  const lease = keepLease(board.boards, claimed.hold, 30_000);
  lease.close();
  const prepare = (boards: Boards = board.boards) =>
    prepareCommand(
      { boards, workTools },
      { spec: { ...spec, workspace: { path: workspace } }, lead, version },
      { hold: claimed.hold, claimed, lease },
    );
  const task = () => board.boards.task(jobId, ids.a ?? '');
  const attempts = () => board.boards.attempts(jobId, ids.a ?? '', 1);
  return { prepare, task, attempts, journal: () => board.boards.readJournal(jobId, ids.a ?? '') };
}

/** The same boards, but the answer to the first submit is lost on its way. */
function losingFirstSubmit(): Boards {
  const boards = openBoards(board.store.redis, board.store.prefix);
  let lost = false;
  return {
    ...boards,
    async submit(...args) {
      const answer = await boards.submit(...args);
      if (lost) return answer;
      lost = true;
      throw new CrewboardError('unavailable', 'the connection broke');
    },
  };
}

describe('the attempt of a command task', () => {
  it('that was fenced in the middle is given back, and does not run the command a second time', async () => {
    const { prepare, task, attempts } = await claimCommand('echo x >>fenced.txt; sleep 100');
    const fence = new AbortController();
    const first = (await prepare())(fence.signal);
    await vi.waitFor(() => access(join(folder.path, 'fenced.txt')), 20_000);
    fence.abort(new Error('fenced'));
    expect(await first).toMatchObject({ kind: 'aborted' });
    expect(await task()).toMatchObject({ status: 'in_progress' });

    // The fence was lifted: the same attempt goes on.
    expect(await (await prepare())(never)).toMatchObject({ kind: 'done' });
    expect(await task()).toMatchObject({ status: 'pending', failures: 0, readiness: { state: 'ready' } });
    expect(await attempts()).toMatchObject([{ outcome: 'released', reason: 'its command was stopped' }]);
    expect(await readFile(join(folder.path, 'fenced.txt'), 'utf8')).toBe('x\n');
  });

  it('whose submit got no answer goes on from the journal: one run, one completion', async () => {
    const { prepare, task, journal } = await claimCommand('echo x >>once.txt; cat once.txt');
    const boards = losingFirstSubmit();
    expect(await (await prepare(boards))(never)).toMatchObject({ kind: 'aborted' });
    expect(await (await prepare(boards))(never)).toMatchObject({ kind: 'done' });
    expect(await task()).toMatchObject({ status: 'completed', attempt: 1, result: { output: 'x' } });
    expect((await journal()).map(({ kind }) => kind)).toEqual(['tool.started', 'tool.result']);
  });

  it('is no failure of the command when that could not be started', async () => {
    const { prepare } = await claimCommand('true', join(folder.path, 'gone'));
    expect(await (await prepare())(never)).toMatchObject({
      kind: 'failed',
      class: 'infra',
      reason: expect.stringContaining('not an existing folder'),
    });
  });
});
