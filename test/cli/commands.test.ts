import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { ADMIN_KEY, type OpenApp, openApp } from '../api/open-app.ts';
import { aJob, anEvent, aResultLine, JOB_ID, TASK_ID } from '../api/records.ts';
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
    args: [{ goal: 'Summarise', workspace: { path: join(folder.path, 'docs') } }, undefined],
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
  expect(terminal.messages).toEqual([`${JOB_ID} cancelled: 0 of 1 task completed, 1 pending`]);
});

test('lists jobs with titles made safe, or as JSON', async () => {
  await using app = await openApp();
  app.fake.job = aJob({ title: 'Evil\u001b]0;pwned\u0007', simulated: true });
  const table = startCli(app, ['ls']);
  expect(await table.code).toBe(0);
  expect(table.terminal.out()).toMatch(/^JOB +STATUS +DONE +FAILED +CREATED +TITLE\n/);
  expect(table.terminal.out()).toContain('(simulated) Evil\\u001b]0;pwned\\u0007');
  const json = startCli(app, ['ls', '--json']);
  expect(await json.code).toBe(0);
  expect(JSON.parse(json.terminal.out())).toEqual({ jobs: [app.fake.job], nextCursor: 'more' });
});

test('tells what the server answered, with exit code 1', async () => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, ['cancel', 'job_zzzzzzzzzzzz']);
  expect(await code).toBe(1);
  expect(terminal.messages).toEqual(['crewboard: There is no job job_zzzzzzzzzzzz.']);
});
