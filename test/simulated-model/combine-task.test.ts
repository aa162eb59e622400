import { describe, expect, it } from 'vitest';
import { BoardSubmitInput } from '../../packages/contracts/src/index.ts';
import { type Answer, opening, play, refused, type ToolCall, taskIdOf } from './conversations.ts';

const OWN = 't_cccccccc';

interface Result {
  taskId: string;
  title: string;
  status: string;
  output?: object;
  failure?: { class: string; reason: string };
}

function pageResult(index: number, words = 10, file = `docs/${index}.md`): Result {
  return {
    taskId: taskIdOf(index),
    title: `Review ${file}`,
    status: 'completed',
    output: { file, title: `Page ${index}`, words, headings: 2, links: 1, codeBlocks: 0 },
  };
}

/** Plays the combining task on a board where the prompt shows the first `shown` results. */
async function combine(
  results: Result[],
  shown = results.length,
  special: (call: ToolCall) => Answer = () => undefined,
) {
  const task = { taskId: OWN, title: 'Combine', instructions: '', input: { combine: true }, acceptance: [] };
  const dependencies = { results: results.slice(0, shown), moreDependencies: results.length - shown };
  const text = `<task>\n${JSON.stringify(task)}\n</task>\n<dependencies>\n${JSON.stringify(dependencies)}\n</dependencies>`;
  const get = ({ input }: ToolCall) => {
    const found = results.find(({ taskId }) => taskId === input.taskId);
    if (found === undefined) {
      const dependsOn = results.map(({ taskId }) => ({ task: taskId, condition: 'settled' }));
      return {
        task: { id: OWN, dependsOn },
        dependencies: results.map(({ taskId, title }) => ({ taskId, title })),
      };
    }
    const { title, status, output, failure } = found;
    return {
      task: { id: found.taskId, title, status, failure, result: { summary: '', output, artifacts: [] } },
    };
  };
  const played = await play(
    opening(['todo_write', 'board_get', 'board_submit', 'board_fail'], text),
    (call) => special(call) ?? (call.name === 'board_get' ? get(call) : 'ok'),
    ({ name }) => name === 'board_submit',
  );
  const submitted = BoardSubmitInput.parse(played.calls.at(-1)?.input);
  return { ...played, submitted, output: Object(submitted.output) };
}

describe('combining', () => {
  it('adds up what the prompt shows, in order', async () => {
    const results = [pageResult(3, 5), pageResult(4, 7)];
    const { calls, output } = await combine(results);
    expect(calls.map(({ name }) => name)).toEqual(['todo_write', 'board_submit']);
    expect(output).toEqual({
      pages: results.map((result) => result.output),
      totals: { pages: 2, words: 12, headings: 4, links: 2, codeBlocks: 0 },
      failed: [],
    });
  });

  it('fetches every result that the prompt lacks, at most 25 a turn', async () => {
    const results = Array.from({ length: 120 }, (_, i) => pageResult(i + 3, i));
    const { calls, turns, output } = await combine(results, 50);
    expect(turns).toBe(1 + 3 + 1);
    expect(calls.filter(({ name }) => name === 'board_get')).toHaveLength(1 + 70);
    expect(output.totals).toEqual({ pages: 120, words: 7140, headings: 240, links: 120, codeBlocks: 0 });
    expect(new Set(output.pages.map(({ file }: { file: string }) => file)).size).toBe(120);
  });

  it('finds the dependencies in an answer that the harness cut', async () => {
    const results = Array.from({ length: 10 }, (_, i) => pageResult(i + 3));
    const whole = JSON.stringify({ dependencies: results.map(({ taskId, output }) => ({ taskId, output })) });
    const { output } = await combine(results, 4, ({ name, input }) =>
      name === 'board_get' && input.taskId === OWN
        ? `${whole.slice(0, -30)}\n[showing 1 of 2 characters]`
        : undefined,
    );
    expect(output.totals.pages).toBe(10);
  });

  it('lists failed dependencies with their reasons, and those that can not be read', async () => {
    const failure = { class: 'model', reason: 'no such file' };
    const lost = { taskId: 't_99999999', title: 'Review gone.md', status: 'failed', failure };
    const results = [pageResult(3), lost, pageResult(4)];
    const { submitted, output } = await combine(results, 2, ({ name, input }) =>
      name === 'board_get' && input.taskId === results[2]?.taskId
        ? refused('not_found', 'it is gone')
        : undefined,
    );
    expect(output.totals.pages).toBe(1);
    expect(output.failed).toEqual([
      { taskId: 't_99999999', title: 'Review gone.md', reason: 'no such file' },
      { taskId: results[2]?.taskId, title: results[2]?.taskId, reason: 'it is gone' },
    ]);
    expect(submitted.summary).toBe('1 page combined, 2 failed.');
  });

  it('puts parts together without counting a page twice', async () => {
    const part = (index: number, words: number): Result => ({
      ...pageResult(index),
      output: {
        pages: [pageResult(index, words).output],
        totals: { pages: 300, words, headings: 1, links: 1, codeBlocks: 1 },
        failed: [{ taskId: `t_${index}`, title: 'Review x.md', reason: 'gone' }],
      },
    });
    const { output } = await combine([part(3, 100), part(4, 50)]);
    expect(output.totals).toEqual({ pages: 600, words: 150, headings: 2, links: 2, codeBlocks: 2 });
    expect(output.pages).toHaveLength(2);
    expect(output.failed).toHaveLength(2);
  });

  it.each([
    [900, ' Pages show file, title and words only, to fit.', 900],
    [1300, ' Pages show file and words only, to fit.', 1300],
    [4000, ' Only 1', 1],
  ])('keeps the output of %i pages in bounds and says how', async (count, note, atLeast) => {
    const results = Array.from({ length: count }, (_, i) => pageResult(i + 3, 1));
    const { submitted, output } = await combine(results);
    expect(JSON.stringify(output).length).toBeLessThanOrEqual(60_000);
    expect(submitted.summary).toContain(note);
    expect(output.pages.length).toBeGreaterThanOrEqual(atLeast);
    expect(output.totals).toMatchObject({ pages: count, words: count });
  });
});
