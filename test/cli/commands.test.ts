import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { SIMULATED } from '../../apps/cli/src/show.ts';
import { fakeService } from '../api/fake-service.ts';
import { ADMIN_KEY, type OpenApp, openApp } from '../api/open-app.ts';
import { aJob, anEvent, aResultLine, aTask, JOB_ID, TASK_ID } from '../api/records.ts';
import { openTestFolder, type TestFolder } from './support/folder.ts';
import { CLI, startProcess } from './support/processes.ts';
import { recordedTerminal } from './support/terminal.ts';

function startCli(app: OpenApp, args: string[]) {
  const terminal = recordedTerminal();
  const variables = { CREWBOARD_URL: app.url, CREWBOARD_API_KEY: ADMIN_KEY };
  return { terminal, code: runCli(args, terminal, variables) };
}

async function jobFile(folder: TestFolder): Promise<string> {
  const file = join(folder.path, 'job.json');
  await writeFile(file, JSON.stringify({ goal: 'Summarise', workspace: { path: 'docs' } }));
  return file;
}

test('runs a job to its end and prints the result', async () => {
  await using app = await openApp();
  await using folder = await openTestFolder();
  const { terminal, code } = startCli(app, ['run', await jobFile(folder)]);
  await app.fake.followersAre(1);
  app.fake.append(
    anEvent(1, {
      type: 'task.failed',
      taskId: TASK_ID,
      status: 'pending',
      data: { reason: 'slow\u001b[2J' },
    }),
  );
  const waits = { type: 'task.parked', taskId: TASK_ID, status: 'pending' } as const;
  app.fake.append(anEvent(2, { ...waits, data: { reason: 'waits for news' } }));
  app.fake.append(anEvent(3, { ...waits, data: { reason: 'provider: no such key', notBefore: 1 } }));
  app.fake.append(anEvent(4, { type: 'job.succeeded', data: {} }));
  expect(await code).toBe(0);
  expect(app.fake.calls[0]).toMatchObject({
    method: 'submitJob',
    args: [{ goal: 'Summarise', workspace: { path: join(folder.path, 'docs') } }, expect.any(String)],
  });
  expect(terminal.out()).toContain(`Job ${JOB_ID} succeeded: 0 of 1 task completed`);
  expect(terminal.messages[0]).toBe(`Submitted ${JOB_ID}`);
  expect(terminal.messages).toContain('will retry #1 Summarise README.md: slow\\u001b[2J');
  expect(terminal.messages).toContain('parked #1 Summarise README.md: provider: no such key');
  expect(terminal.messages.join()).not.toContain('waits for news');
});

test.each(['partial', 'failed', 'cancelled'] as const)('ends a %s job with exit code 1', async (status) => {
  await using app = await openApp();
  await using folder = await openTestFolder();
  const { terminal, code } = startCli(app, ['run', await jobFile(folder), '--json']);
  await app.fake.followersAre(1);
  app.fake.append(anEvent(1, { type: `job.${status}`, data: {} }));
  app.fake.job = { ...app.fake.job, status };
  expect(await code).toBe(1);
  expect(JSON.parse(terminal.out())).toMatchObject({ jobId: JOB_ID, status });
});

test('tells how the tasks of a small job are planned, claimed and completed', async () => {
  await using app = await openApp();
  await using folder = await openTestFolder();
  const { terminal, code } = startCli(app, ['run', await jobFile(folder)]);
  await app.fake.followersAre(1);
  const story = [
    anEvent(1, { type: 'task.added', taskId: TASK_ID, status: 'pending' }),
    anEvent(2, { type: 'task.claimed', taskId: TASK_ID, status: 'in_progress' }),
    anEvent(3, { type: 'task.completed', taskId: TASK_ID, status: 'completed' }),
    anEvent(4, { type: 'job.succeeded', data: {} }),
  ];
  for (const event of story) app.fake.append(event);
  await code;
  const told = terminal.messages.filter((line) => /^(planned|claimed|completed)/.test(line));
  expect(told).toEqual([
    'planned 1 task',
    'claimed #1 Summarise README.md',
    'completed #1 Summarise README.md',
  ]);
});

test('says once that the tasks of a large job are only counted', async () => {
  await using app = await openApp();
  await using folder = await openTestFolder();
  const { terminal, code } = startCli(app, ['run', await jobFile(folder)]);
  await app.fake.followersAre(1);
  for (let n = 1; n <= 61; n++) {
    app.fake.append(anEvent(n, { type: 'task.added', taskId: TASK_ID, status: 'pending' }));
  }
  for (let n = 62; n <= 64; n++) {
    app.fake.append(anEvent(n, { type: 'task.completed', taskId: TASK_ID, status: 'completed' }));
  }
  app.fake.append(anEvent(65, { type: 'job.succeeded', data: {} }));
  await code;
  const told = terminal.messages.filter((line) => /^(planned|more than|completed)/.test(line));
  expect(told).toEqual([
    'planned 61 tasks',
    'more than 60 tasks: claimed and completed ones are only counted from here on',
  ]);
});

test('in a pipe, shows no count before the lines that explain it', async () => {
  const fake = fakeService();
  const { counts } = fake.job;
  const getJob: typeof fake.service.getJob = async (...args) => {
    // The task is completed just when its job is looked at for the first time.
    if (fake.log.length === 1) {
      fake.job = { ...fake.job, counts: { ...counts, pending: 0, ready: 0, completed: 1 } };
      fake.append(anEvent(2, { type: 'task.completed', taskId: TASK_ID, status: 'completed' }));
    }
    return fake.service.getJob(...args);
  };
  await using app = await openApp({ service: { ...fake.service, getJob } });
  await using folder = await openTestFolder();
  const { terminal, code } = startCli(app, ['run', await jobFile(folder)]);
  await fake.followersAre(1);
  fake.append(anEvent(1, { type: 'task.claimed', taskId: TASK_ID, status: 'in_progress' }));
  await terminal.said('running: 1 of 1 task completed');
  fake.append(anEvent(3, { type: 'job.succeeded', data: {} }));
  await code;
  expect(terminal.messages.slice(1, 4)).toEqual([
    'claimed #1 Summarise README.md',
    'completed #1 Summarise README.md',
    'running: 1 of 1 task completed',
  ]);
});

test.each([
  { code: 'forbidden', exit: 2 },
  { code: 'limit_exceeded', exit: 2 },
  { code: 'dependency_cycle', exit: 2 },
  { code: 'unavailable', exit: 1 },
] as const)('ends with exit code $exit when the server refuses the job with $code', async (refusal) => {
  const fake = fakeService();
  const submitJob = async () => {
    throw new CrewboardError(refusal.code, 'this one not. Nothing was changed.', { next: 'board_list {}' });
  };
  await using app = await openApp({ service: { ...fake.service, submitJob } });
  await using folder = await openTestFolder();
  const { terminal, code } = startCli(app, ['run', await jobFile(folder)]);
  expect(await code).toBe(refusal.exit);
  expect(terminal.messages).toEqual(['crewboard: this one not']);
});

test.each([
  ['results', JOB_ID],
  ['results', JOB_ID, '--json'],
])('says on stderr that results are simulated: %s', async (...args) => {
  await using app = await openApp();
  app.fake.job = aJob({ simulated: true });
  const { terminal, code } = startCli(app, args);
  expect(await code).toBe(0);
  expect(terminal.messages).toEqual([SIMULATED]);
});

test.each([
  { flags: [], where: 'the result' },
  { flags: ['--json'], where: 'stderr' },
])('says once, in $where, that a run was simulated: run $flags', async ({ flags, where }) => {
  await using app = await openApp();
  await using folder = await openTestFolder();
  app.fake.job = aJob({ simulated: true });
  const { terminal, code } = startCli(app, ['run', await jobFile(folder), ...flags]);
  await app.fake.followersAre(1);
  app.fake.append(anEvent(1, { type: 'job.succeeded', data: {} }));
  expect(await code).toBe(0);
  const said = { 'the result': terminal.out(), stderr: terminal.messages.join() };
  const times = Object.entries(said).map(([place, text]) => [place, text.split(SIMULATED).length - 1]);
  expect(Object.fromEntries(times)).toEqual({ 'the result': 0, stderr: 0, [where]: 1 });
});

test('names what failed, with its class, and ends with the commands to go on with', async () => {
  await using app = await openApp();
  await using folder = await openTestFolder();
  const failure = { class: 'check', reason: 'exit code 3' } as const;
  app.fake.tasks = [aTask({ number: 4, status: 'failed', readiness: undefined, failure })];
  const { terminal, code } = startCli(app, ['run', await jobFile(folder)]);
  await app.fake.followersAre(1);
  app.fake.append(anEvent(1, { type: 'job.partial', data: {} }));
  app.fake.job = aJob({ status: 'partial', counts: { ...aJob().counts, total: 20, pending: 0, failed: 20 } });
  expect(await code).toBe(1);
  expect(terminal.out()).toContain('Failed:\n  #4 Summarise README.md  failed (check): exit code 3\n');
  expect(terminal.out()).toContain(`  and 19 more: \`crewboard board ${JOB_ID} --by status\`\n`);
  expect(terminal.messages.at(-1)).toBe(
    `Why: \`crewboard why ${JOB_ID} 4\`\nRun again: \`crewboard rerun ${JOB_ID} --status failed\``,
  );
  expect(app.fake.calls).toContainEqual(
    expect.objectContaining({ method: 'listTasks', args: [JOB_ID, { status: 'failed', limit: 10 }] }),
  );
});

test('asks why of a job that failed without a failed task, and of nothing in one that succeeded', async () => {
  await using app = await openApp();
  for (const { status, says } of [
    { status: 'failed', says: `Why: \`crewboard why ${JOB_ID}\`` },
    { status: 'succeeded', says: `Each task's result: \`crewboard results ${JOB_ID}\`` },
  ] as const) {
    app.fake.job = aJob({ status });
    const { terminal, code } = startCli(app, ['watch', JOB_ID]);
    await code;
    expect(terminal.messages.at(-1)).toBe(says);
    expect(terminal.out()).not.toContain('Failed:');
  }
});

test('ends with exit code 130 on Ctrl-C and says that the job goes on', async () => {
  await using app = await openApp();
  await using folder = await openTestFolder();
  const file = await jobFile(folder);
  await using cli = startProcess([CLI, 'run', file, '--url', app.url, '--key', ADMIN_KEY], {
    cwd: folder.path,
    env: {},
  });
  await app.fake.followersAre(1);
  cli.child.kill('SIGINT');
  expect(await cli.ended).toBe(130);
  expect(cli.stderr()).toContain(
    `interrupted: ${JOB_ID} goes on; cancel it with \`crewboard cancel ${JOB_ID}\``,
  );
  expect(app.fake.calls.map(({ method }) => method)).not.toContain('cancelJob');
});

test('submits a job and prints its ID alone on stdout', async () => {
  await using app = await openApp();
  await using folder = await openTestFolder();
  const { terminal, code } = startCli(app, ['submit', await jobFile(folder)]);
  expect(await code).toBe(0);
  expect(terminal.out()).toBe(`${JOB_ID}\n`);
});

test('prints results as JSON lines with unsafe characters escaped', async () => {
  await using app = await openApp();
  app.fake.results = async function* () {
    yield aResultLine(1, 'right\u202eleft\u009b');
    yield aResultLine(2);
  };
  const { terminal, code } = startCli(app, ['results', JOB_ID]);
  expect(await code).toBe(0);
  const lines = terminal.out().trimEnd().split('\n');
  expect(terminal.messages).toEqual([]);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('right\\u202eleft\\u009b');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    aResultLine(1, 'right\u202eleft\u009b'),
    aResultLine(2),
  ]);
});

test('cancels a job with the reason given', async () => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, ['cancel', JOB_ID, '--reason', 'wrong folder']);
  expect(await code).toBe(0);
  expect(app.fake.calls).toMatchObject([{ method: 'cancelJob', args: [JOB_ID, 'wrong folder'] }]);
  expect(terminal.out()).toBe('');
  expect(terminal.messages).toEqual([`${JOB_ID} cancelled: 0 of 1 task completed, 1 unreachable`]);
});

test('lists jobs with titles made safe, or as JSON', async () => {
  await using app = await openApp();
  app.fake.job = aJob({ title: 'Evil\u001b]0;pwned\u0007', simulated: true });
  const table = startCli(app, ['ls']);
  expect(await table.code).toBe(0);
  expect(table.terminal.out()).toMatch(/^JOB +STATUS +DONE +FAILED +CREATED +TITLE\n/);
  expect(table.terminal.out()).toContain('Evil\\u001b]0;pwned\\u0007 (simulated)');
  const json = startCli(app, ['ls', '--json']);
  expect(await json.code).toBe(0);
  expect(JSON.parse(json.terminal.out())).toEqual({ jobs: [app.fake.job], nextCursor: 'more' });
});

test('tells what the server answered, with exit code 2', async () => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, ['cancel', 'job_zzzzzzzzzzzz']);
  expect(await code).toBe(2);
  expect(terminal.messages).toEqual(['crewboard: There is no job job_zzzzzzzzzzzz']);
});

test('says what to do about a key that the server does not know', async () => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, ['ls', '--key', 'some-other-key-of-mine']);
  expect(await code).toBe(2);
  expect(terminal.messages).toEqual([
    `crewboard: the server at ${app.url} does not know this API key: pass --key or set CREWBOARD_API_KEY`,
  ]);
});
