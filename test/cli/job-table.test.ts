import { textColumns } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { showJobs } from '../../apps/cli/src/job-table.ts';
import { aJob } from '../api/records.ts';

const NOW_MS = Date.parse('2026-01-01T02:10:00.000Z');
const LONG =
  'Convert the quarterly reports of ten years into plain text, and count the words of each of them';
const counts = { ...aJob().counts, total: 10_000, completed: 9_999, failed: 1 };
const JOBS = [
  aJob({ title: LONG, status: 'awaiting_approval', counts, simulated: true }),
  aJob({ title: 'Short', simulated: true }),
  aJob({ title: `漢字 ${LONG}` }),
];

test.each([80, 100, 160])(
  'leaves titles to be told apart, and their marks whole, in %i columns',
  (columns) => {
    const lines = showJobs(JOBS, columns, NOW_MS).split('\n');
    for (const line of lines) expect(textColumns(line)).toBeLessThanOrEqual(columns);
    expect(lines[1]).toMatch(/Convert the quarterly r.* \(simulated\)$/);
    expect(lines[2]).toMatch(/ Short \(simulated\)$/);
    expect(lines[3]).toMatch(/ 漢字 Convert the .*…$/);
  },
);

test('drops when jobs were made before it drops how far they are', () => {
  const [wide, narrow, narrower] = [160, 70, 62].map((columns) => showJobs(JOBS.slice(2), columns, NOW_MS));
  expect(wide).toMatch(/^JOB +STATUS +DONE +FAILED +CREATED +TITLE\n.* 2 h ago /);
  expect(narrow).toMatch(/^JOB +STATUS +DONE +FAILED +TITLE\n/);
  expect(narrower).toMatch(/^JOB +STATUS +DONE +TITLE\n/);
  expect(showJobs(JOBS, 50, NOW_MS)).toMatch(/^JOB +STATUS +TITLE\n/);
});

test('shows all columns in a pipe, and no mark where no simulated model answers', () => {
  const text = showJobs(JOBS, undefined, NOW_MS);
  expect(text).toMatch(/^JOB +STATUS +DONE +FAILED +CREATED +TITLE\n/);
  expect(text.match(/\(simulated\)/g)).toHaveLength(2);
});

test('says the mark short rather than no title', () => {
  const [, line = ''] = showJobs(JOBS.slice(1, 2), 40, NOW_MS).split('\n');
  expect(line).toMatch(/ Short \(sim\)$/);
});
