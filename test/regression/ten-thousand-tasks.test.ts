import { expect, inject, it } from 'vitest';
import { agentArtifacts, wholeKeeper } from '../../packages/orchestrator/src/artifacts/agent-artifacts.ts';
import { createBoardListTool } from '../../packages/orchestrator/src/board-tools.ts';
import { createReadArtifactTool } from '../../packages/tools/src/index.ts';
import { recordingTool, runOn, submitTool } from '../agent/support.ts';
import { openTestStore } from '../support/artifacts.ts';
import { openBoardFixture } from '../support/board.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';

const TASKS = inject('redisKind') === 'embedded' ? 1000 : 10_000;
const context = { signal: new AbortController().signal, toolUseId: 't', requestId: 'r' };
const submitted = { summary: 'done', artifacts: [], evidence: [] };

interface Listed {
  counts: { total: number };
  tasks: { number: number; taskId: string }[];
  nextCursor?: string;
}

it('board_list of a huge board is a short page with counts and a cursor that is stable while tasks change', async () => {
  await using board = await openBoardFixture();
  const tasks = Array.from({ length: TASKS }, (_, i) => ({ title: `Task ${i} ${'x'.repeat(150)}` }));
  const { jobId } = await board.job(tasks, { limits: { maxTasks: TASKS, maxParallel: 100 } });
  const tool = createBoardListTool(board.boards, jobId);
  const seen: number[] = [];
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
    const { content } = await tool.execute(cursor === undefined ? {} : { cursor }, context);
    const page: Listed = JSON.parse(content);
    expect(page.tasks.length).toBeLessThanOrEqual(50);
    expect(Buffer.byteLength(content)).toBeLessThan(20 * 1024);
    expect(page.counts.total).toBe(TASKS);
    seen.push(...page.tasks.map(({ number }) => number));
    cursor = page.nextCursor;
    // Tasks change between the pages: one of this page is done by the time the next one is asked for.
    const first = page.tasks[0]?.taskId;
    if (pages === 0 && first !== undefined) {
      const held = await board.claim(jobId, first);
      await board.boards.submit(held.hold, 's', held.task.version, submitted);
    }
  }
  expect(seen).toEqual(Array.from({ length: TASKS }, (_, i) => i + 1));
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
