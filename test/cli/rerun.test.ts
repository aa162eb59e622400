import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { fakeService } from '../api/fake-service.ts';
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
  [['rerun', JOB_ID], 'say which tasks by at least one of --status, --label, --task-key and --class'],
  [['rerun', JOB_ID, '--status', 'pending'], '--status must be one of completed, failed, cancelled'],
  [['rerun', JOB_ID, '--status', 'failed,pending'], 'got "failed,pending"'],
  [['rerun', JOB_ID, '--label', ' '], '--label must not be blank'],
  [['rerun', JOB_ID, '--task-key', ''], '--task-key must not be blank'],
  [['rerun', JOB_ID, '--class', 'check', '--instructions', ''], '--instructions must not be blank'],
  [['rerun', JOB_ID, '--class', 'none'], '--class must be one of model, check'],
  [['rerun', JOB_ID, '--status', 'failed', '--expect-count', '0'], 'must be a number from 1'],
  [['rerun', 'nothing', '--status', 'failed'], 'must be a job ID'],
])('refuses %j', async (args, words) => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, args);
  expect(await code).toBe(2);
  expect(terminal.messages.join('\n')).toContain(words);
  expect(app.fake.calls).toEqual([]);
});

test('takes several statuses in every form', async () => {
  await using app = await openApp();
  for (const flags of [
    ['--status', 'failed,cancelled'],
    ['--status', 'failed', '--status', 'cancelled'],
    ['--status=failed', '--status', 'failed,cancelled'],
  ])
    expect(await startCli(app, ['rerun', ...flags, JOB_ID]).code).toBe(0);
  const wheres = app.fake.calls.map(({ args }) => args[1]);
  expect(wheres).toEqual(Array(3).fill({ where: { status: ['failed', 'cancelled'] } }));
});

test.each([
  {
    refusal: new CrewboardError('not_found', 'no ended task matches "where". Nothing was changed.', {
      path: 'where',
    }),
    says: `no ended task of ${JOB_ID} has all that the flags name: \`crewboard board ${JOB_ID}\` lists its tasks`,
  },
  {
    refusal: new CrewboardError('invalid_argument', '18 tasks match "where", and expectCount is 3.', {
      path: 'expectCount',
    }),
    says: `18 tasks match, which is not what --expect-count says: \`crewboard board ${JOB_ID}\` lists its tasks`,
  },
])("tells the server's refusal in the words of its flags: $says", async ({ refusal, says }) => {
  const fake = fakeService();
  const rerunTasks = () => Promise.reject(refusal);
  await using app = await openApp({ service: { ...fake.service, rerunTasks } });
  const { terminal, code } = startCli(app, ['rerun', JOB_ID, '--status', 'failed']);
  expect(await code).toBe(2);
  expect(terminal.messages).toEqual([`crewboard: ${says}`]);
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
