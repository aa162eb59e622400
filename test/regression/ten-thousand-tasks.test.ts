import { expect, inject, it } from 'vitest';
import { createBoardListTool } from '../../packages/orchestrator/src/board-tools.ts';
import { openBoardFixture } from '../support/board.ts';

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
    expect(Buffer.byteLength(content)).toBeLessThan(20_000 + 1000);
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
