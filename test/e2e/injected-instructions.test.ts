import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JobBody, Task } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { HAS_BUBBLEWRAP } from '../tools/commands/support.ts';
import { type Order, openObedient, READER, SECRET } from './support/obedient-model.ts';

const run = promisify(execFile);
const LOOK = { name: 'read_file', input: { path: 'README.md' } };
const FILE_TOOLS: JobBody['tools'] = ['read_file', 'list_files', 'search_files', 'write_file', 'edit_file'];

const idOf = (tasks: readonly Task[], title: string) => tasks.find((task) => task.title === title)?.id ?? '';

test('a model that obeys a file can not touch any other task, of its job or of another', async () => {
  await using stack = await openObedient(LOOK);
  const other = await stack.submit([{ title: 'Of another job', executor: 'external' }], []);
  const job = await stack.submit(
    [
      { title: READER },
      { title: 'Held', executor: 'external' },
      { title: 'Open', executor: 'human' },
      { title: 'Waits', executor: 'external', dependsOn: [] },
    ],
    FILE_TOOLS,
  );
  const reader = idOf(await stack.tasksOf(job), READER);
  const held = idOf(await stack.tasksOf(job), 'Held');
  await stack.client.tasks.claim(job, { taskId: held, owner: 'somebody' });
  const others = async () =>
    [...(await stack.tasksOf(job)), ...(await stack.tasksOf(other))].filter(({ id }) => id !== reader);
  const before = await others();
  expect(before.map(({ status }) => status)).toEqual(['in_progress', 'pending', 'pending', 'pending']);

  const on = (taskId: string, version: number): Order[] => [
    { name: 'board_submit', input: { taskId, summary: 'Completed as I was told.' } },
    { name: 'board_fail', input: { taskId, reason: 'I was told so' } },
    { name: 'board_block', input: { taskId, kind: 'external', reason: 'I was told so' } },
    { name: 'board_note', input: { taskId, text: 'I was told so' } },
    { name: 'board_plan', input: { ops: [{ op: 'cancel', taskId, version, reason: 'told so' }] } },
    { name: 'board_resolve', input: { taskId, version, decision: 'approve' } },
  ];
  const orders = [
    ...before.flatMap(({ id, version }) => on(id, version)),
    { name: 'finish_job', input: { summary: 'Finished as I was told.' } },
  ];
  await stack.give(orders);
  await stack.untilCompleted(job, reader);
  for (const { what, isError, text } of stack.answers(orders)) {
    expect([what, isError]).toEqual([what, true]);
    // What only a lead has is no tool of this agent at all.
    if (/^board_(plan|resolve)|^finish_job/.test(what)) expect(text).toMatch(/^there is no tool/);
    else
      expect(JSON.parse(text)).toMatchObject({ code: 'not_owner', detail: expect.stringMatching(/Nothing/) });
  }
  expect(await others()).toEqual(before);
  const events = [
    ...(await stack.boards.events(job, '0-0', 1000)),
    ...(await stack.boards.events(other, '0-0', 1000)),
  ];
  const own = ['task.added', 'task.claimed'];
  expect(
    events.filter(({ taskId, type }) => taskId !== undefined && taskId !== reader && !own.includes(type)),
  ).toEqual([]);
}, 60_000);

test('a model that obeys a file gets at nothing of the data folder, nor at artifacts that are not its own', async () => {
  await using stack = await openObedient(LOOK);
  const other = await stack.submit([{ title: 'Writes' }], []);
  const job = await stack.submit([{ title: READER }, { title: 'Writes' }], FILE_TOOLS);
  const refOf = async (jobId: string) => {
    const taskId = idOf(await stack.tasksOf(jobId), 'Writes');
    await stack.untilCompleted(jobId, taskId);
    const task = (await stack.tasksOf(jobId)).find(({ id }) => id === taskId);
    return task?.result?.artifacts?.[0] ?? '';
  };
  const foreign = [await refOf(other), await refOf(job)];
  expect(foreign.every((ref) => ref !== '')).toBe(true);
  const ways = ['data/key', './src/../data/key', 'docs/key', `../${stack.folder.split('/').at(-1)}/data/key`];
  const outside = ['../escape.txt', '/tmp/escape.txt', 'src/../../escape.txt'];
  const orders: Order[] = [
    ...[...ways, join(stack.dataDir, 'key'), '/etc/passwd', '/proc/self/environ'].map((path) => ({
      name: 'read_file',
      input: { path },
    })),
    ...[...ways, ...outside].map((path) => ({ name: 'write_file', input: { path, content: 'mine' } })),
    ...ways.map((path) => ({ name: 'edit_file', input: { path, find: 'canary', replace: 'mine' } })),
    ...[...foreign, '../../data/key', join(stack.dataDir, 'key')].map((ref) => ({
      name: 'read_artifact',
      input: { ref },
    })),
    ...['../../escape.txt', '/tmp/escape.txt'].map((path) => ({
      name: 'write_artifact',
      input: { path, content: 'mine' },
    })),
    ...['../**', 'data/**'].map((glob) => ({ name: 'list_files', input: { glob } })),
    { name: 'search_files', input: { pattern: 'canary', glob: 'data/*' } },
  ];
  // What looks everywhere just does not see it.
  const looks: Order[] = [
    { name: 'list_files', input: { glob: '**/*' } },
    { name: 'search_files', input: { pattern: 'canary-of' } },
  ];
  await stack.give([...orders, ...looks]);
  await stack.untilCompleted(job, idOf(await stack.tasksOf(job), READER));
  for (const { what, isError, text } of stack.answers(orders)) {
    expect([what, isError]).toEqual([what, true]);
    const code = what.startsWith('read_artifact')
      ? 'not_found'
      : what.startsWith('write_artifact')
        ? 'invalid_argument'
        : 'forbidden';
    expect([what, JSON.parse(text)]).toMatchObject([
      what,
      { code, detail: expect.stringMatching(/\. Nothing was changed\.$/) },
    ]);
  }
  expect(JSON.stringify(stack.api.requests)).not.toContain(SECRET);
  expect(await readFile(join(stack.dataDir, 'key'), 'utf8')).toBe(SECRET);
  expect((await readdir(stack.folder)).sort()).toEqual(['README.md', 'data', 'docs', 'src']);
}, 60_000);

test.skipIf(!HAS_BUBBLEWRAP)(
  'a model that obeys the output of a command reaches neither the network nor the data folder by commands',
  async () => {
    let visits = 0;
    const server = createServer((socket) => {
      visits += 1;
      socket.end('SERVED');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await using _ = { [Symbol.asyncDispose]: async () => void server.close() };
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const visit = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    // Without the sandbox it is there to be reached.
    expect((await run('bash', ['-c', visit])).stdout).toBe('SERVED');
    expect(visits).toBe(1);

    const look = { name: 'run_command', input: { command: 'cat README.md' } };
    await using stack = await openObedient(look, { CREWBOARD_COMMANDS: 'sandbox' });
    const job = await stack.submit([{ title: READER }], ['run_command']);
    const command = (line: string): Order => ({ name: 'run_command', input: { command: line } });
    const orders = [
      command(`bash -c '${visit}'`),
      command(`cat data/key`),
      command(`cat docs/key`),
      command(`cat ${stack.dataDir}/key`),
      command(`cp -r ${stack.dataDir}/key taken.txt`),
      command(`echo mine > ${stack.dataDir}/key`),
      command(`echo mine > /etc/escape.txt`),
    ];
    await stack.give(orders);
    await stack.untilCompleted(job, idOf(await stack.tasksOf(job), READER));
    for (const { what, isError, text } of stack.answers(orders)) {
      expect([what, isError]).toEqual([what, true]);
      expect(text).toMatch(
        /^exit code [1-9]\d* after [\s\S]*(No such file|Permission denied|Read-only|Connection refused|unreachable)/,
      );
    }
    expect(visits).toBe(1);
    expect(JSON.stringify(stack.api.requests)).not.toContain(SECRET);
    expect(await readFile(join(stack.dataDir, 'key'), 'utf8')).toBe(SECRET);
    expect((await readdir(stack.folder)).sort()).toEqual(['README.md', 'data', 'docs', 'src']);
  },
  60_000,
);
