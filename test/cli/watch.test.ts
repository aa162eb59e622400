import { textColumns } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import type { Screen } from '../../apps/cli/src/screen.ts';
import { drawFrame, shareRoom } from '../../apps/cli/src/watch/frame.ts';
import { boardGroups } from '../../apps/cli/src/watch/groups.ts';
import { paceKeeper } from '../../apps/cli/src/watch/pace.ts';
import type { WatchView } from '../../apps/cli/src/watch/view.ts';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { aJob, anEvent, aTask, JOB_ID, TASK_ID } from '../api/records.ts';
import { recordedTerminal } from './support/terminal.ts';

const COUNTS = aJob().counts;

function aView(fields: Partial<WatchView> = {}): WatchView {
  const counts = { ...COUNTS, total: 9, completed: 3, in_progress: 4, failed: 1, pending: 1 };
  const running = [1, 2, 3, 4].map((number) =>
    aTask({
      number,
      title: `Read the file of the long name number ${number}\u202e`,
      status: 'in_progress',
      readiness: undefined,
      owner: { kind: 'sub-agent', id: 'w-1' },
      startedAt: '2026-01-01T00:00:00.000Z',
    }),
  );
  const failure = { class: 'check', reason: 'exit code 1\u001b[2J' } as const;
  return {
    job: aJob({ title: 'Docs \u001b[31m', counts, startedAt: '2026-01-01T00:00:00.000Z' }),
    lead: undefined,
    running,
    troubled: [aTask({ number: 5, status: 'failed', readiness: undefined, failure })],
    groups: [{ name: 'api', total: 9, completed: 3, failed: 1, running: 4 }],
    pace: undefined,
    notice: undefined,
    isReconnecting: false,
    nowMs: Date.parse('2026-01-01T00:01:05.000Z'),
    ...fields,
  };
}

test.each([
  { columns: 80, rows: 24 },
  { columns: 160, rows: 50 },
  { columns: 40, rows: 9 },
  { columns: 80, rows: 3 },
])('draws a job within $columns columns and $rows rows', ({ columns, rows }) => {
  const lines = drawFrame(aView(), { columns, rows, hasColour: false });
  expect(lines.length).toBeLessThanOrEqual(rows);
  for (const line of lines) expect(textColumns(line)).toBeLessThanOrEqual(columns);
  for (const unsafe of ['\u001b', '\u202e']) expect(lines.join('')).not.toContain(unsafe);
});

test('draws counts, holders with their time, failures with their class, and groups', () => {
  const text = drawFrame(aView(), { columns: 120, rows: 40, hasColour: false }).join('\n');
  expect(text).toContain('3 of 9 tasks completed, 1 failed, 4 in progress');
  expect(text).toContain('sub-agent w-1, 1 min 5 s');
  expect(text).toContain('failed (check): exit code 1');
  expect(text).toMatch(/api {2}█+▓+░+ {2}3\/9, 4 running, 1 failed/);
  expect(text).not.toContain(' left');
});

test('draws the bars of groups alike, one below the other, with the width of the terminal', () => {
  const counts = { total: 1000, completed: 400, failed: 100, running: 4 };
  const groups = [
    { name: 'documentation of all the pages', ...counts },
    { name: 'ui', total: 2, completed: 0, failed: 0, running: 0 },
  ];
  for (const { columns, bars } of [
    { columns: 40, bars: 5 },
    { columns: 80, bars: 19 },
    { columns: 160, bars: 53 },
  ]) {
    const view = aView({ groups, pace: { perMinute: 1234, leftMs: 3_599_000 } });
    const lines = drawFrame(view, { columns, rows: 40, hasColour: false });
    for (const line of lines) expect(textColumns(line)).toBeLessThanOrEqual(columns);
    const drawn = lines.slice(-2).map((line) => ({
      at: line.search(/[█▓░]/),
      length: line.match(/[█▓░]+/)?.[0].length,
    }));
    expect(drawn).toEqual([drawn[0], drawn[0]]);
    expect(drawn[0]?.length).toBe(bars);
  }
  const pace = drawFrame(aView(), { columns: 160, rows: 40, hasColour: false })[3] ?? '';
  expect(pace.match(/[█▓░]+/)?.[0]).toHaveLength(80);
});

test('says how many more there are where rows are short, and drops what has no room', () => {
  const text = drawFrame(aView(), { columns: 80, rows: 13, hasColour: false }).join('\n');
  expect(text).toContain('Needs a look');
  expect(text).toContain('… and 3 more');
  expect(text).not.toContain('Groups');
  expect(shareRoom([2, 5, 2], 6)).toEqual([2, 4, 0]);
});

test('says when it reconnects, and colours only where asked', () => {
  const view = aView({ isReconnecting: true, pace: { perMinute: 12, leftMs: 120_000 } });
  const coloured = drawFrame(view, { columns: 80, rows: 24, hasColour: true }).join('\n');
  expect(coloured).toContain('\u001b[31mThe server does not answer: reconnecting ...');
  expect(coloured).toContain('33 %, 12 tasks/min, about 2 min 0 s left');
});

test('tells no pace until five tasks have ended, and a slower one when nothing ends any more', () => {
  const pace = paceKeeper();
  for (const at of [0, 1000, 2000, 3000]) pace.ended(at);
  expect(pace.at(4000, 10)).toBeUndefined();
  pace.ended(4000);
  expect(pace.at(4000, 10)).toEqual({ perMinute: 60, leftMs: 10_000 });
  expect(pace.at(8000, 10)).toEqual({ perMinute: 30, leftMs: 20_000 });
});

test('tells the pace of tasks that end hundreds a second', () => {
  const pace = paceKeeper();
  for (let at = 0; at <= 4000; at += 5) pace.ended(at);
  expect(pace.at(4000, 100)?.perMinute).toBeCloseTo(12_000, -2);
});

test('groups by parent before label, and follows what events tell', () => {
  const groups = boardGroups();
  groups.take([aTask({ labels: ['api'] }), aTask({ id: 't_bbbb2345', labels: [] })]);
  groups.apply(anEvent(1, { type: 'task.completed', taskId: TASK_ID, status: 'completed' }));
  expect(groups.list()).toEqual([
    { name: 'api', total: 1, completed: 1, failed: 0, running: 0 },
    { name: 'others', total: 1, completed: 0, failed: 0, running: 0 },
  ]);
  groups.take([aTask({ title: 'All' }), aTask({ id: 't_bbbb2345', labels: ['api'], parent: TASK_ID })]);
  expect(groups.list()).toMatchObject([{ name: 'All', total: 2 }]);
  groups.take([aTask()]);
  expect(groups.list()).toEqual([]);
});

function watch(url: string, args: readonly string[], screen?: Screen) {
  const terminal = { ...recordedTerminal(), openScreen: () => screen };
  const variables = { CREWBOARD_URL: url, CREWBOARD_API_KEY: ADMIN_KEY };
  return { terminal, code: runCli(['watch', ...args], terminal, variables) };
}

test('draws until the job has ended, gives the terminal back, and ends like the job', async () => {
  await using app = await openApp();
  const lead = aTask({ id: 't_22222222', number: 0, readiness: { state: 'waiting', on: ['news'] } });
  app.fake.tasks = [aTask(), lead];
  app.fake.append(anEvent(1, { type: 'task.added', taskId: TASK_ID, status: 'pending' }));
  const drawn: string[] = [];
  let closed = 0;
  const screen: Screen = {
    columns: () => 80,
    rows: () => 24,
    hasKeys: false,
    draw: (lines) => void drawn.push(lines.join('\n')),
    onResize() {},
    onQuit() {},
    close: () => void closed++,
  };
  const { terminal, code } = watch(app.url, [], screen);
  await Promise.race([app.fake.followersAre(1), code]);
  expect(terminal.messages).toEqual([]);
  app.fake.append(anEvent(2, { type: 'job.partial', data: {} }));
  app.fake.job = { ...app.fake.job, status: 'partial' };
  expect(await code).toBe(1);
  expect(drawn[0]).toContain('0 of 1 task completed');
  expect(drawn[0]).toContain('Lead: waits for news from the board');
  expect(closed).toBe(1);
  expect(terminal.out()).toContain(`Job ${JOB_ID} partial`);
});

test('prints lines of change in a pipe, and the events with --json', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(1, { type: 'task.claimed', taskId: TASK_ID, status: 'in_progress' }));
  const plain = watch(app.url, [JOB_ID]);
  const json = watch(app.url, [JOB_ID, '--json']);
  await app.fake.followersAre(2);
  app.fake.append(anEvent(2, { type: 'job.succeeded', data: {} }));
  expect(await plain.code).toBe(0);
  expect(plain.terminal.out()).toContain('claimed #1 Summarise README.md\n');
  expect(await json.code).toBe(0);
  const types = json.terminal
    .out()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect(types).toEqual(['task.claimed', 'job.succeeded']);
});

test('refuses to watch when nothing runs and no job is named', async () => {
  await using app = await openApp();
  app.fake.job = aJob({ status: 'succeeded' });
  const { terminal, code } = watch(app.url, []);
  expect(await code).toBe(2);
  expect(terminal.messages.join()).toContain('`crewboard ls` lists them');
});
