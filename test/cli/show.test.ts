import { expect, test } from 'vitest';
import { showCounts, showOutput, showProgress, showResult } from '../../apps/cli/src/show.ts';
import { aJob } from '../api/records.ts';

test('shows lists of flat objects as tables and flat objects on a line', () => {
  expect(
    showOutput({
      pages: [
        { file: 'a.md', words: 7 },
        { file: 'longer.md', words: 1234 },
      ],
      totals: { pages: 2, words: 1241 },
      note: 'two\nlines \u202e',
    }),
  ).toBe(
    [
      'pages',
      'file       words',
      'a.md           7',
      'longer.md   1234',
      '',
      'totals: pages 2, words 1241',
      '',
      'note: two\nlines \\u202e',
    ].join('\n'),
  );
});

test('cuts texts of a table until it fits the terminal, and counts columns of wide characters', () => {
  const pages = [
    { file: 'docs/operations/configuration.md', title: 'What can be set, and where', words: 812 },
  ];
  expect(showOutput(pages, 60)).toBe(
    [
      'file                      title                     words',
      'docs/operations/configu…  What can be set, and wh…    812',
    ].join('\n'),
  );
  const wide = [
    { a: '日本語', b: 1 },
    { a: 'x', b: 22 },
  ];
  expect(showOutput(wide)).toBe('a       b\n日本語   1\nx       22');
});

test('shows what it has no form for as JSON', () => {
  expect(showOutput([1, [2]])).toBe('[\n  1,\n  [\n    2\n  ]\n]');
  expect(showOutput({ deep: { list: [1] }, empty: [] })).toBe('deep: {"list":[1]}\n\nempty: []');
  expect(showOutput('plain \u0007')).toBe('plain \\u0007');
});

test('ends a result with the counts that are not nought, the spend, and the mark of a simulated model', () => {
  const base = aJob();
  const job = aJob({
    status: 'partial',
    statusReason: 'waived: 1 task',
    simulated: true,
    counts: { ...base.counts, total: 5, pending: 0, ready: 0, completed: 3, failed: 2 },
  });
  const spend = { ...base.spend, settledUsd: 1.5, estimatedUsd: 0.25, inputTokens: 1200, outputTokens: 30 };
  const text = showResult(job, {
    jobId: job.id,
    status: job.status,
    summary: 'Done.',
    counts: job.counts,
    spend,
    simulated: true,
  });
  expect(text).toBe(
    [
      'Done.',
      '',
      `Job ${job.id} partial (waived: 1 task): 3 of 5 tasks completed, 2 failed. SIMULATED: made by the built-in model, not by a real one.`,
      'Spent 1.75 USD, 1,200 tokens in, 30 out.',
    ].join('\n'),
  );
});

test('tells of a moving job its counts before what may be cut', () => {
  const job = aJob({ statusReason: 'rate limited: the provider asks for patience' });
  expect(showProgress(job)).toBe(
    'running: 0 of 1 task completed, 1 ready (rate limited: the provider asks for patience)',
  );
});

test('tells of pending tasks by why they are not running', () => {
  const counts = { ...aJob().counts, total: 9, pending: 8, completed: 1 };
  const split = { ...counts, ready: 1, waiting: 3, scheduled: 1, unreachable: 2, held: 1 };
  expect(showCounts(split, false)).toBe(
    '1 of 9 tasks completed, 2 unreachable, 1 ready, 3 waiting, 1 scheduled, 1 held',
  );
});

test('tells of the pending tasks of an ended job as unreachable, also those behind unreachable ones', () => {
  const counts = { ...aJob().counts, total: 4, pending: 2, ready: 0, waiting: 1, unreachable: 1 };
  expect(showCounts({ ...counts, completed: 1, failed: 1 }, true)).toBe(
    '1 of 4 tasks completed, 1 failed, 2 unreachable',
  );
});
