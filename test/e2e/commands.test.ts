import { execFileSync } from 'node:child_process';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobBody, type NewTask, type ResultLine } from '@crewboard/contracts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { folderWith, type TestFolder } from '../regression/support.ts';
import { boardsOf } from '../support/boards-of.ts';
import { EXAMPLES, type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { HAS_BUBBLEWRAP, processesOf, uniqueSleep } from '../tools/commands/support.ts';
import { expectHonestCounts } from './support/job-record.ts';

const COMMANDS = { CREWBOARD_COMMANDS: HAS_BUBBLEWRAP ? 'sandbox' : 'host' };
/** No model at all: neither API nor worker has one. */
const NO_MODEL = { CREWBOARD_SIMULATED_MODEL_URL: '' };

let folder: TestFolder;
let stack: LocalStack;

beforeAll(async () => {
  folder = await folderWith({ 'a.txt': 'one two three\n', '.env': 'SECRET' });
  stack = await openLocalStack({ workspaces: [folder.path], variables: { ...COMMANDS, ...NO_MODEL } });
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

const command = (run: string, fields: Partial<NewTask> = {}): NewTask => ({
  title: run.slice(0, 50),
  executor: 'command',
  command: { run },
  ...fields,
});

const bodyOf = (...tasks: NewTask[]): JobBody => ({ tasks, workspace: { path: folder.path } });

async function runJob(...tasks: NewTask[]) {
  const job = await stack.run(bodyOf(...tasks));
  expectHonestCounts(job.counts);
  const page = await boardsOf(stack).page(job.id, {
    after: 0,
    limit: 100,
    full: true,
  });
  return { job, tasks: page.tasks };
}

const attemptsOf = async (jobId: string, taskId = '') =>
  (await stack.client.tasks.attempts(jobId, taskId)).attempts;

/** Submits one command task and resolves when its process is there. */
async function startSleeping(before = ''): Promise<{ jobId: string; taskId: string; sleep: string }> {
  const sleep = uniqueSleep();
  const { id: jobId } = await stack.client.jobs.submit(
    bodyOf(command(`${before}setsid ${sleep} & ${sleep}`)),
  );
  await vi.waitFor(async () => expect(await processesOf(sleep)).toHaveLength(2), 30_000);
  const { tasks } = await stack.client.tasks.list(jobId);
  return { jobId, taskId: tasks[0]?.id ?? '', sleep };
}

describe('a command task', () => {
  it('completes with what its command wrote, without a model, and dependents build on it', async () => {
    const { job, tasks } = await runJob(
      command('wc -w <a.txt; echo warning >&2; echo 3 >count.txt', { key: 'count' }),
      command('cat count.txt', { dependsOn: ['count'] }),
      command('true'),
    );
    expect(job).toMatchObject({ status: 'succeeded', counts: { completed: 3 }, spend: { settledUsd: 0 } });
    expect(tasks.map(({ result }) => result)).toMatchObject([
      { output: '3\nwarning', summary: '3\nwarning' },
      { output: '3' },
      { output: '', summary: 'exit code 0, no output' },
    ]);
    expect(tasks.every(({ attempt, failures }) => attempt === 1 && failures === 0)).toBe(true);
  });

  it('counts the example’s pages as the shell does', async () => {
    const job = JobBody.parse(JSON.parse(await readFile(join(EXAMPLES, 'commands.json'), 'utf8')));
    const path = join(EXAMPLES, job.workspace?.path ?? '');
    const { id } = await stack.run({ ...job, workspace: { path } });
    const lines: ResultLine[] = [];
    for await (const line of stack.client.jobs.results(id)) lines.push(line);
    const byShell = job.tasks?.map(({ key, command: { run = '' } = {} }) => ({
      key,
      status: 'completed',
      output: execFileSync('/bin/sh', ['-c', run], { cwd: path, encoding: 'utf8' }).trimEnd(),
    }));
    expect(lines).toMatchObject(byShell ?? []);
    expect(lines).toHaveLength(4);
  });

  it('journals the start before the command and its end after it', async () => {
    const { job, tasks } = await runJob(command('echo hello'));
    const page = await stack.client.tasks.transcript(job.id, tasks[0]?.id ?? '');
    expect(page.entries).toMatchObject([
      { kind: 'tool.started', name: 'command', attempt: 1 },
      { kind: 'tool.result', isError: false, content: expect.stringContaining('"exitCode":0') },
    ]);
  });

  it('keeps the end of an output that is too large, as the task has room for it', async () => {
    const { tasks } = await runJob(
      command(`node -e "process.stdout.write('\\x1b'.repeat(60000) + 'the end')"`),
    );
    const output = String(tasks[0]?.result?.output);
    expect(output.replaceAll('\x1b', '')).toBe('[...]\nthe end');
    expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThanOrEqual(65_536);
    expect(Buffer.byteLength(tasks[0]?.result?.summary ?? '')).toBeLessThanOrEqual(2048);
  });

  it('fails as check with exit code and output, and is tried again as often as it may', async () => {
    const { job, tasks } = await runJob(
      command('echo x >>tries.txt; echo "2 tests failed"; exit 3', { maxAttempts: 2 }),
    );
    expect(job).toMatchObject({ status: 'failed', counts: { failed: 1 } });
    expect(tasks[0]).toMatchObject({ attempt: 2, failures: 2, failure: { class: 'check' } });
    expect(tasks[0]?.failure?.reason).toMatch(/^exit code 3 after \d+\.\d s\n2 tests failed$/);
    expect(await readFile(join(folder.path, 'tries.txt'), 'utf8')).toBe('x\nx\n');
  });

  it('completes in a later attempt when the command then succeeds', async () => {
    const { job, tasks } = await runJob(command('test -e there || { touch there; exit 1; }'));
    expect(job.status).toBe('succeeded');
    expect(tasks[0]).toMatchObject({ attempt: 2, failures: 1, status: 'completed' });
  });

  it('fails as timeout when its time is over, and leaves no process', async () => {
    const sleep = uniqueSleep();
    const { tasks } = await runJob(
      command('long', {
        command: { run: `echo begun; setsid ${sleep} & ${sleep}`, timeoutMs: 500 },
        maxAttempts: 1,
      }),
      command('long', { command: { run: sleep }, limits: { timeoutMs: 1000 }, maxAttempts: 1 }),
    );
    expect(tasks.map(({ failure }) => failure?.class)).toEqual(['timeout', 'timeout']);
    expect(tasks[0]?.failure?.reason).toMatch(/^timed out and was stopped after 0\.\d s\nbegun$/);
    expect(await processesOf(sleep)).toEqual([]);
  });

  it.skipIf(!HAS_BUBBLEWRAP)('runs in the sandbox', async () => {
    const { tasks } = await runJob(
      command('cat .env /etc/shadow; echo x >/usr/x; env; exit 1', { maxAttempts: 1 }),
    );
    expect(tasks[0]?.failure?.reason).toMatch(/\.env: Permission denied/);
    expect(tasks[0]?.failure?.reason).not.toMatch(/SECRET|root:|REDIS_URL|CREWBOARD/);
  });

  it('ends its whole tree when the task is cancelled', async () => {
    const { jobId, taskId, sleep } = await startSleeping();
    const { version } = await stack.client.tasks.get(jobId, taskId);
    await stack.client.tasks.cancel(jobId, taskId, { version, reason: 'not needed' });
    await vi.waitFor(async () => expect(await processesOf(sleep)).toEqual([]), 20_000);
    expect(await stack.client.tasks.get(jobId, taskId)).toMatchObject({ status: 'cancelled', failures: 0 });
  });

  it('ends its whole tree when the job is cancelled, also what does not want to', async () => {
    const { jobId, sleep } = await startSleeping('trap "" TERM; ');
    await stack.client.jobs.cancel(jobId);
    await vi.waitFor(async () => expect(await processesOf(sleep)).toEqual([]), 20_000);
    expect((await stack.client.jobs.get(jobId)).status).toBe('cancelled');
  });

  it('completes when something else of the task was edited meanwhile', async () => {
    const { id } = await stack.client.jobs.submit(
      bodyOf(command('touch edit-1; while [ ! -e go-1 ]; do sleep 0.05; done; echo done; rm go-1')),
    );
    await vi.waitFor(() => access(join(folder.path, 'edit-1')), 30_000);
    const [task] = (await stack.client.tasks.list(id)).tasks;
    await stack.client.tasks.edit(id, task?.id ?? '', { version: task?.version ?? 0, title: 'Renamed' });
    await writeFile(join(folder.path, 'go-1'), '');
    await vi.waitFor(async () => expect((await stack.client.jobs.get(id)).status).toBe('succeeded'), 30_000);
    expect(await stack.client.tasks.get(id, task?.id ?? '')).toMatchObject({
      title: 'Renamed',
      attempt: 1,
      result: { output: 'done' },
    });
  });

  it('runs the new command in a new attempt when that was edited meanwhile', async () => {
    const { id } = await stack.client.jobs.submit(
      bodyOf(command('touch edit-2; while [ ! -e go-2 ]; do sleep 0.05; done; echo old')),
    );
    await vi.waitFor(() => access(join(folder.path, 'edit-2')), 30_000);
    const [task] = (await stack.client.tasks.list(id)).tasks;
    const taskId = task?.id ?? '';
    await stack.client.tasks.edit(id, taskId, {
      version: task?.version ?? 0,
      command: { run: 'echo new' },
    });
    await writeFile(join(folder.path, 'go-2'), '');
    await vi.waitFor(async () => expect((await stack.client.jobs.get(id)).status).toBe('succeeded'), 30_000);
    expect(await stack.client.tasks.get(id, taskId)).toMatchObject({
      attempt: 2,
      failures: 0,
      result: { output: 'new' },
    });
    expect((await attemptsOf(id, taskId)).map(({ outcome }) => outcome)).toEqual(['released', 'completed']);
  });

  it('is not edited into one whose end would not say what is asked for, and may be given to others', async () => {
    const { id } = await stack.client.jobs.submit(
      bodyOf(
        { title: 'Never done', key: 'gate', executor: 'human' },
        command('echo ran', { dependsOn: ['gate'], acceptance: [{ id: 'a', text: 'It holds.' }] }),
      ),
    );
    const task = (await stack.client.tasks.list(id)).tasks[1];
    const url = `/v1/jobs/${id}/tasks/${task?.id}`;
    const unfit = [
      { policy: 'evidence' },
      { policy: 'checked' },
      { outputSchema: { type: 'string' } },
      { acceptance: [{ id: 'a', text: 'b', check: { run: 'true' } }] },
    ];
    for (const patch of unfit) {
      const answer = await stack.call('PATCH', url, { version: 1, ...patch });
      expect(answer, JSON.stringify(patch)).toMatchObject({
        status: 400,
        json: { code: 'invalid_argument' },
      });
    }
    expect(await stack.call('PATCH', url, { version: 1, executor: 'human' })).toMatchObject({ status: 200 });
    expect(await stack.call('PATCH', url, { version: 2, policy: 'evidence' })).toMatchObject({ status: 200 });
    expect(await stack.call('PATCH', url, { version: 3, executor: 'command' })).toMatchObject({
      status: 400,
    });
    await stack.client.jobs.cancel(id);
  });

  it('waits for people when it must be approved', async () => {
    const { id } = await stack.client.jobs.submit(bodyOf(command('echo draft', { policy: 'approved' })));
    await vi.waitFor(async () => expect((await stack.client.jobs.get(id)).counts.in_review).toBe(1), 30_000);
    const [task] = (await stack.client.tasks.list(id)).tasks;
    await stack.client.tasks.approve(id, task?.id ?? '', { version: task?.version ?? 0 });
    expect((await stack.client.jobs.get(id)).status).toBe('succeeded');
  });
});

describe('a job with commands', () => {
  const workspace = () => ({ path: folder.path });
  const refusals: [string, () => object, string][] = [
    ['a command without a workspace', () => ({ tasks: [command('true')] }), 'add workspace.path'],
    [
      'the executor without a command',
      () => ({ workspace: workspace(), tasks: [{ title: 'A', executor: 'command' }] }),
      'tasks[0].command',
    ],
    [
      'a command for an agent',
      () => ({
        workspace: workspace(),
        tasks: [{ title: 'A', executor: 'human', command: { run: 'true' } }],
      }),
      'needs "executor": "command"',
    ],
    [
      'a command that is to state evidence',
      () => ({ workspace: workspace(), tasks: [command('true', { policy: 'evidence' })] }),
      'states no evidence',
    ],
  ];
  it.each(refusals)('is refused: %s', async (_, body, detail) => {
    expect(await stack.call('POST', '/v1/jobs', body())).toMatchObject({
      status: 400,
      json: { code: 'invalid_argument', detail: expect.stringContaining(detail) },
    });
  });

  it('is refused where commands are off, before anything is stored, and later tasks and edits are', async () => {
    await using off = await openLocalStack({
      workspaces: [folder.path],
      worker: false,
      variables: { CREWBOARD_COMMANDS: 'off' },
    });
    const refused = {
      status: 400,
      json: { code: 'invalid_argument', detail: expect.stringContaining('are off') },
    };
    expect(await off.call('POST', '/v1/jobs', bodyOf(command('true')))).toMatchObject(refused);
    const tools = { goal: 'Do it', workspace: workspace(), tools: ['read_file', 'run_command'] };
    expect(await off.call('POST', '/v1/jobs', tools)).toMatchObject(refused);
    expect((await off.client.jobs.list()).jobs).toEqual([]);

    const { id } = await off.client.jobs.submit({ ...bodyOf({ title: 'A' }), tools: ['write_file'] });
    expect(await off.call('POST', `/v1/jobs/${id}/tasks`, { tasks: [command('true')] })).toMatchObject(
      refused,
    );
    const [task] = (await off.client.tasks.list(id)).tasks;
    const patch = { version: 1, executor: 'command', command: { run: 'true' } };
    expect(await off.call('PATCH', `/v1/jobs/${id}/tasks/${task?.id}`, patch)).toMatchObject(refused);
  });
});

describe('workers that can’t do everything', () => {
  it('a worker without commands gives command tasks back at no cost', async () => {
    // The API lets commands in, as one on another machine would; the worker here has none.
    await using mixed = await openLocalStack({
      workspaces: [folder.path],
      variables: COMMANDS,
      workerVariables: { CREWBOARD_COMMANDS: 'off' },
    });
    const { id } = await mixed.client.jobs.submit(bodyOf(command('true')));
    await vi.waitFor(async () => {
      const [task] = (await mixed.client.tasks.list(id)).tasks;
      expect(task).toMatchObject({ status: 'pending', attempt: 1, failures: 0 });
      expect((await mixed.client.tasks.attempts(id, task?.id ?? '')).attempts).toMatchObject([
        { outcome: 'parked', reason: expect.stringContaining('CREWBOARD_COMMANDS is off') },
      ]);
    }, 30_000);
  });

  it('a worker without a model runs commands and leaves agents’ tasks to others', async () => {
    await using mixed = await openLocalStack({
      workspaces: [folder.path],
      provider: { url: 'http://127.0.0.1:9', key: 'unused-key' },
      variables: COMMANDS,
      workerVariables: { ANTHROPIC_BASE_URL: '', ANTHROPIC_API_KEY: '' },
    });
    const { id } = await mixed.client.jobs.submit(bodyOf({ title: 'For an agent' }, command('echo ran')));
    await vi.waitFor(async () => expect((await mixed.client.jobs.get(id)).counts.completed).toBe(1), 30_000);
    expect((await mixed.client.tasks.list(id)).tasks).toMatchObject([
      { status: 'pending', attempt: 0 },
      { status: 'completed' },
    ]);
  });
});
