import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { ADMIN_KEY, type OpenApp, openApp } from '../api/open-app.ts';
import { JOB_ID } from '../api/records.ts';
import { recordedTerminal } from './support/terminal.ts';

function startCli(app: OpenApp, args: string[]) {
  const terminal = recordedTerminal();
  const variables = { CREWBOARD_URL: app.url, CREWBOARD_API_KEY: ADMIN_KEY };
  return { terminal, code: runCli(args, terminal, variables) };
}

test('runs chosen tasks again, wherever the options stand', async () => {
  await using app = await openApp();
  const first = startCli(app, ['rerun', '--status', 'failed', '--label', 'a', '--label', 'b', JOB_ID]);
  expect(await first.code).toBe(0);
  expect(first.terminal.messages.join('\n')).toContain('1 task matched, 1 run again.');
  const options = [
    '--task-key',
    'row-*',
    '--class',
    'check',
    '--instructions',
    'Again',
    '--expect-count',
    '1',
  ];
  const second = startCli(app, ['rerun', JOB_ID, ...options, '--json']);
  expect(await second.code).toBe(0);
  expect(JSON.parse(second.terminal.out())).toMatchObject({ jobId: JOB_ID, matched: 1, reopened: 1 });
  expect(app.fake.calls.map(({ method, args }) => [method, args[1]])).toEqual([
    ['rerunTasks', { where: { status: ['failed'], label: ['a', 'b'] } }],
    ['rerunTasks', { where: { key: 'row-*', class: 'check' }, instructions: 'Again', expectCount: 1 }],
  ]);
});

test.each([
  [['rerun', JOB_ID], 'must name at least one of status, label, key and class'],
  [['rerun', JOB_ID, '--status', 'pending'], 'completed, failed, cancelled'],
  [['rerun', JOB_ID, '--class', 'none'], 'Allowed choices are'],
  [['rerun', JOB_ID, '--status', 'failed', '--expect-count', '0'], 'must be a number from 1'],
  [['rerun', 'nothing', '--status', 'failed'], 'must be a job ID'],
])('refuses %j', async (args, words) => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, args);
  expect(await code).toBe(2);
  expect(terminal.messages.join('\n')).toContain(words);
  expect(app.fake.calls).toEqual([]);
});

test('says what a submit would do, by the flag or by the file, and makes nothing', async () => {
  await using app = await openApp();
  const folder = await mkdtemp(join(tmpdir(), 'crewboard-dry-'));
  try {
    const [plain, dry] = [join(folder, 'plain.json'), join(folder, 'dry.json')];
    await writeFile(plain, '{"tasks": [{"title": "A"}]}');
    await writeFile(dry, '{"tasks": [{"title": "A"}], "dryRun": true}');
    const shown = startCli(app, ['submit', plain, '--dry-run']);
    expect(await shown.code).toBe(0);
    expect(shown.terminal.out()).toContain('would be running.\n0 tasks: 0 ready, 0 waiting');
    const byFile = startCli(app, ['submit', dry, '--json']);
    expect(await byFile.code).toBe(0);
    expect(JSON.parse(byFile.terminal.out())).toMatchObject({ dryRun: true });
    const run = startCli(app, ['run', dry]);
    expect(await run.code).toBe(2);
    expect(run.terminal.messages.join('\n')).toContain('crewboard submit --dry-run');
    expect(app.fake.calls.map(({ method }) => method)).toEqual(['dryRunJob', 'dryRunJob']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
