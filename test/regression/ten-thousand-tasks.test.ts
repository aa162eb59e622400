import { expect, inject, it } from 'vitest';
import { agentArtifacts, wholeKeeper } from '../../packages/orchestrator/src/artifacts/agent-artifacts.ts';
import { createBoardListTool } from '../../packages/orchestrator/src/board-tools.ts';
import { createReadArtifactTool } from '../../packages/tools/src/index.ts';
import { recordingTool, runOn, submitTool } from '../agent/support.ts';
import { openTestStore } from '../support/artifacts.ts';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';

const TASKS = inject('redisKind') === 'embedded' ? 1000 : 10_000;
/** Pages between which tasks change. */
const CHANGED_PAGES = 3;
const context = { signal: new AbortController().signal, toolUseId: 't', requestId: 'r' };
const submitted = { summary: 'done', artifacts: [], evidence: [] };

interface Listed {
  counts: { total: number };
  tasks: { number: number; taskId: string }[];
  nextCursor?: string;
}

/** What becomes of tasks, by their numbers. */
function changesOn({ boards, claim }: BoardFixture, jobId: string) {
  const taskAt = async (number: number) => {
    const [task] = (await boards.page(jobId, { after: number - 1, limit: 1 })).tasks;
    if (task === undefined) throw new Error(`there is no task ${number}`);
    return task;
  };
  return {
    async complete(number: number) {
      const held = await claim(jobId, (await taskAt(number)).id);
      await boards.submit(held.hold, 's', held.task.version, submitted);
    },
    async cancel(number: number) {
      const { id, version } = await taskAt(number);
      await boards.change(jobId, { by: ANN, cancels: [{ taskId: id, version, reason: 'not needed' }] });
    },
  };
}

it('board_list of a huge board is a short page with counts and a cursor that is stable while tasks change', async () => {
  await using board = await openBoardFixture();
  // So long that 50 lines would be twice as much as a page may hold.
  const tasks = Array.from({ length: TASKS }, (_, i) => ({ title: `Task ${i} ${'日'.repeat(180)}` }));
  const { jobId } = await board.job(tasks, { limits: { maxTasks: TASKS, maxParallel: 100 } });
  const tool = createBoardListTool(board.boards, jobId);
  const change = changesOn(board, jobId);
  const seen: number[] = [];
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
    const { content } = await tool.execute(cursor === undefined ? {} : { cursor }, context);
    const page: Listed = JSON.parse(content);
    expect(page.tasks.length).toBeLessThanOrEqual(50);
    expect(Buffer.byteLength(content)).toBeLessThan(20 * 1024);
    expect(page.counts.total).toBe(TASKS);
    seen.push(...page.tasks.map(({ number }) => number));
    cursor = page.nextCursor;
    // The task that the cursor stands on changes between the pages, and so do its neighbours on both sides.
    const last = seen.at(-1) ?? 0;
    if (pages >= CHANGED_PAGES) continue;
    await change.complete(last - 1);
    await change.cancel(last);
    await change.complete(last + 1);
    await change.cancel(last + 2);
  }
  expect(seen).toEqual(Array.from({ length: TASKS }, (_, i) => i + 1));
  const { counts } = await board.boards.job(jobId);
  expect(counts).toMatchObject({ completed: 2 * CHANGED_PAGES, cancelled: 2 * CHANGED_PAGES });
});

it('a tool result of 2 MB is cut with how much is shown, and read by offset to its end', async () => {
  await using board = await openBoardFixture();
  await using store = await openTestStore();
  const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
  const { hold, task } = await board.claim(jobId, ids.a ?? '');
  const places = { boards: board.boards, artifacts: store.artifacts };
  const output = Array.from({ length: 200_000 }, (_, i) => `line ${i}\n`)
    .join('')
    .padEnd(2_000_000, '😀');
  let read = '';
  await using api = await startScriptedApi(({ messages }) => {
    if (messages.length === 1) return reply([toolUse('log')]);
    const [{ text } = { text: '' }] = lastResults({ model: '', max_tokens: 1, messages });
    const note =
      /\n\[showing (\d+) of (\d+) characters; read_artifact \{"ref":"(a_\w+)"\} from offset \1\]$/.exec(text);
    read += note === null ? text.slice(text.indexOf('\n') + 1) : text.slice(0, note.index);
    if (note !== null) expect(Number(note[2])).toBe(output.length);
    const ref = note?.[3] ?? /"ref":"(a_\w+)"/.exec(JSON.stringify(messages))?.[1];
    if (read.length >= output.length) return reply([toolUse('submit')]);
    return reply([toolUse('read_artifact', { ref, offset: read.length, limit: 100_000 })]);
  });
  const { outcome } = await runOn(api, {
    tools: [
      recordingTool([], { name: 'log', answer: { content: output } }),
      createReadArtifactTool(agentArtifacts(places, hold, task), ''),
      submitTool(),
    ],
    keepWhole: wholeKeeper(places, hold),
    limits: {
      maxTurns: 50,
      toolTimeoutMs: 30_000,
      parallelTools: 1,
      modelTries: 1,
      modelRetryMs: 0,
      maxResultChars: 110_000,
      timeoutMs: 60_000,
    },
    contextWindow: 100_000_000,
  });
  expect(outcome).toMatchObject({ kind: 'done' });
  expect(read === output).toBe(true);
});
