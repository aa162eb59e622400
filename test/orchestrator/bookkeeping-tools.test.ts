import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTodoWriteTool } from '@crewboard/checklist';
import { BOOKKEEPING_TOOLS } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { createBoardNoteTool } from '../../packages/orchestrator/src/sub-agent/progress-tools.ts';
import { openBoardFixture } from '../support/board.ts';

const PACKAGES = join(import.meta.dirname, '../../packages');

/** How often a tool is marked, by file. */
function marks(): Record<string, number> {
  const sources = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    sources
      .filter((path) => /^[^/]+\/src\/.*\.ts$/.test(path))
      .map((path) => [path, readFileSync(join(PACKAGES, path), 'utf8').split('bookkeeping: true').length - 1])
      .filter(([, count]) => count !== 0),
  );
}

it('the tools that a transcript takes for bookkeeping are those that are marked so', async () => {
  expect(marks()).toEqual({
    'checklist/src/tool.ts': 1,
    'orchestrator/src/sub-agent/progress-tools.ts': 1,
  });
  await using board = await openBoardFixture();
  const { jobId, ids } = await board.job([{ title: 'A' }]);
  const { hold } = await board.claim(jobId, ids.A ?? '');
  const onUpdate = async () => {};
  const tools = [
    createBoardNoteTool(board.boards, hold),
    createTodoWriteTool({ allowParallelInProgress: true, onUpdate }),
  ];
  expect(tools.every(({ bookkeeping }) => bookkeeping === true)).toBe(true);
  expect(tools.map(({ name }) => name).sort()).toEqual([...BOOKKEEPING_TOOLS].sort());
});
