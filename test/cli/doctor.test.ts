import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newJobId } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { dataFolder, writeState } from '../../apps/cli/src/local/data-folder.ts';
import { identify } from '../../apps/cli/src/local/process-identity.ts';
import { passwordIn } from '../../apps/cli/src/local/redis-state.ts';
import { runCli } from '../../apps/cli/src/program.ts';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';
import { freePort } from '../support/redis-server.ts';
import { openTestFolder } from './support/folder.ts';
import { recordedTerminal } from './support/terminal.ts';

async function run(variables: Record<string, string>, ...args: string[]) {
  const terminal = recordedTerminal();
  const code = await runCli(['doctor', ...args], terminal, variables);
  return { code, out: terminal.out(), messages: terminal.messages };
}

const variablesOf = ({ store }: BoardFixture) => ({ REDIS_URL: store.url, CREWBOARD_PREFIX: store.prefix });

/** A job as a submit leaves it: on its board, in the list and with the sweeper. */
async function aJob(board: BoardFixture, options: { hold?: boolean; flip?: boolean } = {}): Promise<string> {
  const tasks = [
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
  ];
  const { jobId } = await board.job(tasks, options);
  await board.boards.index.addLive(jobId);
  await board.boards.index.list(jobId, 'default', Date.now());
  return jobId;
}

/** Makes a task wait for something that is not there. */
async function damage({ boards, store }: BoardFixture, jobId: string): Promise<void> {
  const { tasks } = await boards.page(jobId, { after: 0, limit: 10 });
  await store.redis.hset(boards.keys.board(jobId, 'unmet'), tasks[1]?.id ?? '', '2');
}

test('looks over all boards, mends what can be, and ends with 1 while something is left', async () => {
  await using board = await openBoardFixture();
  const jobs = [await aJob(board), await aJob(board)];
  const variables = variablesOf(board);
  const healthy = await run(variables);
  expect(healthy.code).toBe(0);
  expect(healthy.out.split('\n').sort()).toEqual(
    ['', ...jobs.map((id) => `${id} running, 2 tasks: healthy`)].sort(),
  );
  expect(healthy.messages).toEqual(['2 boards: nothing left to mend.']);

  await damage(board, jobs[0] ?? '');
  const damaged = await run(variables);
  expect(damaged.code).toBe(1);
  expect(damaged.out).toMatch(
    / {2}unmet {2}t_\w{8} {2}2 unmet, 0 lost {2}expected 1 unmet, 0 lost {2}can be mended\n/,
  );
  expect(damaged.messages).toEqual([
    '2 boards: 1 finding left; crewboard doctor --repair mends what follows from other state.',
  ]);
  const mended = await run(variables, '--repair');
  expect(mended.code).toBe(0);
  expect(mended.out).toContain('mended');
  expect((await run(variables)).out).toBe(healthy.out);
});

test('looks over a job that is held like one that runs', async () => {
  await using board = await openBoardFixture();
  const jobId = await aJob(board, { hold: true });
  await board.boards.add(jobId, { tasks: [{ title: 'C' }], by: ANN });
  const variables = variablesOf(board);
  expect(await run(variables)).toEqual({
    code: 0,
    out: `${jobId} accepting, 3 tasks: healthy\n`,
    messages: ['1 board: nothing left to mend.'],
  });
  await damage(board, jobId);
  expect((await run(variables)).code).toBe(1);
  expect((await run(variables, '--repair')).code).toBe(0);
});

test('counts the boards that it leaves out since a submit is filling them, and says so', async () => {
  await using board = await openBoardFixture();
  const jobId = await aJob(board, { flip: false });
  const variables = variablesOf(board);
  expect(await run(variables)).toEqual({
    code: 0,
    out: `${jobId} accepting: left out, a submit is filling it\n`,
    messages: ['1 board left out: a submit is filling it. Look again in a minute.'],
  });
  expect(JSON.parse((await run(variables, '--json')).out)).toMatchObject({ jobId, left: true, tasks: 0 });
  await aJob(board);
  expect((await run(variables)).messages).toEqual([
    '1 board left out: a submit is filling it. Look again in a minute. 1 board: nothing left to mend.',
  ]);
});

test('prints a line of JSON a board, or one board alone', async () => {
  await using board = await openBoardFixture();
  const jobs = [await aJob(board), await aJob(board)];
  const variables = variablesOf(board);
  await damage(board, jobs[1] ?? '');
  const all = await run(variables, '--json');
  const reports = all.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(reports.map(({ jobId }) => jobId).sort()).toEqual([...jobs].sort());
  const one = await run(variables, jobs[1] ?? '', '--json');
  expect(one.code).toBe(1);
  expect(JSON.parse(one.out)).toMatchObject({
    jobId: jobs[1],
    status: 'running',
    tasks: 2,
    remaining: 1,
    findings: [{ check: 'unmet', repairable: true, repaired: false }],
  });
  const absent = await run(variables, 'job_zzzzzzzzzzzz');
  expect(absent.code).toBe(2);
  expect(absent.messages).toEqual([
    'crewboard: no such job job_zzzzzzzzzzzz in this Redis: `crewboard doctor` looks over all that are there',
  ]);
});

test('says of a job that is archived that it has no board, of one that was deleted that there is none', async () => {
  await using board = await openBoardFixture();
  const jobId = newJobId();
  const { index } = board.boards;
  await index.list(jobId, 'default', 1);
  const variables = variablesOf(board);
  expect(await run(variables, jobId)).toEqual({
    code: 0,
    out: `${jobId} archived: no board in Redis to look over\n`,
    messages: ['There are no boards in Redis to look over.'],
  });
  expect(JSON.parse((await run(variables, jobId, '--json')).out)).toEqual({
    jobId,
    archived: true,
    tasks: 0,
    findings: [],
    more: 0,
    remaining: 0,
  });
  expect(await run(variables)).toMatchObject({ code: 0, out: '' });
  await index.beginDeleting(jobId, 'default');
  expect((await run(variables, jobId)).messages.join()).toContain('no such job');
});

test('takes a job without a board from the sweeper, but not one whose submit has just begun', async () => {
  await using board = await openBoardFixture();
  const { store, boards } = board;
  const live = boards.keys.global('live');
  await store.redis.zadd(live, '1000', 'job_zzzzzzzzzzzz', String(Date.now()), 'job_yyyyyyyyyyyy');
  const found = await run(variablesOf(board));
  expect(found.code).toBe(1);
  expect(found.out).toContain('job_zzzzzzzzzzzz unreadable, 0 tasks: 1 finding');
  expect((await run(variablesOf(board), '--repair')).code).toBe(0);
  expect(await store.redis.zrange(live, 0, '-1')).toEqual(['job_yyyyyyyyyyyy']);
});

test('finds the Redis, server or embedded, of the `crewboard up` on the data folder', async () => {
  await using board = await openBoardFixture();
  await using folder = await openTestFolder();
  const jobId = await aJob(board);
  const variables = { CREWBOARD_DATA_DIR: folder.path, CREWBOARD_PREFIX: board.store.prefix };
  const none = await run(variables);
  expect(none.code).toBe(2);
  expect(none.messages[0]).toContain(`REDIS_URL is not set and ${folder.path} keeps no Redis`);
  await mkdir(join(folder.path, 'redis'));
  const { url } = board.store;
  const state = { port: Number(new URL(url).port), password: passwordIn(url) };
  await writeFile(join(folder.path, 'redis', 'redis.json'), JSON.stringify(state));
  expect((await run(variables)).out).toContain(`${jobId} running`);

  const gone = { port: await freePort(), password: 'secret' };
  await writeFile(join(folder.path, 'redis', 'redis.json'), JSON.stringify(gone));
  const { code, messages } = await run(variables);
  expect(code).toBe(1);
  expect(messages).toEqual([
    expect.stringMatching(
      /^crewboard: the Redis at 127\.0\.0\.1:\d+ can't be reached \(.*\): it runs with `crewboard up` on this data folder; start that, or set REDIS_URL$/,
    ),
  ]);

  const own = { url: 'http://127.0.0.1:7499', process: await identify(), embeddedRedisUrl: url };
  await writeState(dataFolder(folder.path).serverFile, own);
  expect((await run(variables)).out).toContain(`${jobId} running`);
});

test('says that Redis is out of reach, and nothing of its password', async () => {
  const port = await freePort();
  const { code, messages } = await run({ REDIS_URL: `redis://:secret@127.0.0.1:${port}` });
  expect(code).toBe(1);
  expect(messages).toHaveLength(1);
  expect(messages[0]).toContain(`the Redis at 127.0.0.1:${port} can't be reached`);
  expect(messages[0]).not.toContain('secret');
});
