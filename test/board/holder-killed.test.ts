import type { BoardEvent } from '@crewboard/contracts';
import { newSecret } from '@crewboard/contracts';
import { describe, expect, inject, it } from 'vitest';
import { type BoardFixture, openBoardFixture } from '../support/board.ts';
import { dumpBoard } from '../support/board-dump.ts';
import { type ClaimerProcess, startClaimer, startClaimers, type Worked } from '../support/claimer-process.ts';
import type { HolderCall } from '../support/claimer-protocol.ts';

const LEASE_MS = 250;
const OWNER = 'the same worker';
const NOTHING = { summary: 'done', artifacts: [], evidence: [] };
const WAIT = { timeout: 20_000, interval: 20 };

/** What a holder does between its claim and its end; it is killed after each of them, and after the claim. */
const CALLS: readonly HolderCall[] = [
  'heartbeat',
  'append start',
  'append message',
  'heartbeat',
  'append reply',
  'append tool.started',
  'note',
  'append tool.result',
  'progress',
  'propose',
  'commit artifact',
  'heartbeat',
  'submit',
];

const LATE_CALLS: readonly HolderCall[] = [
  'heartbeat',
  'note',
  'progress',
  'append reply',
  'propose',
  'commit artifact',
  'submit',
  'fail',
  'release',
  'park',
  'block',
];

/** A job of a task `a` and a task `b` behind it. */
async function twoTasks(board: BoardFixture) {
  const { jobId, ids } = await board.job([
    { key: 'a', title: 'Held' },
    { key: 'b', title: 'Behind it', dependsOn: ['a'] },
  ]);
  await board.boards.index.addLive(jobId);
  return { jobId, a: ids.a ?? '', b: ids.b ?? '' };
}

const sweep = ({ boards }: BoardFixture, jobId: string) =>
  boards.sweep(jobId, { intervalMs: 10, leaseMs: LEASE_MS, strikes: 3, staleMs: 60_000 });

/** Sweeps until nobody holds the task. */
async function untilGivenBack(board: BoardFixture, jobId: string, taskId: string): Promise<void> {
  const status = async () => {
    await sweep(board, jobId);
    return (await board.boards.task(jobId, taskId)).status;
  };
  await expect.poll(status, WAIT).not.toBe('in_progress');
}

/** Kills the process and waits until Redis has seen the last of it. */
async function killAndDrain(board: BoardFixture, claimer: ClaimerProcess): Promise<void> {
  await claimer.kill();
  await expect
    .poll(() => board.store.redis.client('LIST').then(String), WAIT)
    .not.toContain(claimer.connectionName);
}

async function finish(board: BoardFixture, jobId: string, taskId: string): Promise<void> {
  const { hold, task } = await board.claim(jobId, taskId, 'another worker', 60_000);
  await board.boards.submit(hold, newSecret(), task.version, NOTHING);
}

const eventsOf = (board: BoardFixture, jobId: string) => board.boards.events(jobId, '0-0', 1000);
const timeOf = ({ id }: BoardEvent) => Number(id.split('-')[0]);

/** Kills a holder after `calls`; all that it did must be there, and the task go on with another one. */
async function killAfter(board: BoardFixture, claimer: ClaimerProcess, calls: readonly HolderCall[]) {
  const { boards } = board;
  const { jobId, a, b } = await twoTasks(board);
  expect(await claimer.claim(jobId, a, OWNER, LEASE_MS)).toBe('ok');
  for (const call of calls) expect(await claimer.call(call), call).toBe('ok');
  await killAndDrain(board, claimer);

  const isSubmitted = calls.includes('submit');
  await untilGivenBack(board, jobId, a);
  expect((await boards.task(jobId, a)).status).toBe(isSubmitted ? 'completed' : 'pending');
  const [attempt] = await boards.attempts(jobId, a, 1);
  expect(attempt).toMatchObject({
    outcome: isSubmitted ? 'completed' : 'expired',
    owner: { kind: 'sub-agent', id: OWNER },
  });

  const events = await eventsOf(board, jobId);
  const count = (type: string) => events.filter((event) => event.type === type && event.taskId !== b).length;
  const made = (call: HolderCall) => calls.filter((each) => each === call).length;
  expect(count('task.noted')).toBe(made('note'));
  expect(count('task.progress')).toBe(made('progress'));
  expect(count('task.proposed')).toBe(made('propose'));
  expect(count('task.expired')).toBe(isSubmitted ? 0 : 1);
  const journal = await boards.readJournal(jobId, a);
  const appended = calls.filter((call) => call.startsWith('append ')).map((call) => call.slice(7));
  expect(journal.map(({ kind }) => kind)).toEqual(appended);
  expect((await boards.job(jobId)).usage.modelCalls).toBe(made('append reply'));

  if (!isSubmitted) {
    const { hold, task } = await board.claim(jobId, a, 'another worker', 60_000);
    expect(task).toMatchObject({ attempt: 2, failures: 0 });
    const continued = await boards.openJournal(hold, { attempt: 2 });
    await continued.append({ kind: 'message', texts: ['Going on.'] });
    expect(continued.entries).toHaveLength(appended.length + 1);
    await boards.submit(hold, newSecret(), task.version, NOTHING);
  }
  await finish(board, jobId, b);
  expect(await boards.job(jobId)).toMatchObject({
    status: 'succeeded',
    counts: { total: 2, completed: 2 },
  });
  expect((await boards.examine(jobId)).findings).toEqual([]);
}

describe.runIf(inject('redisKind') === 'server')('a holder that is killed with -9', () => {
  const points = CALLS.map((_, i) => CALLS.slice(0, i + 1));

  it('between any two of its calls loses nothing, and the sweep gives the task back', {
    timeout: 180_000,
  }, async () => {
    await using board = await openBoardFixture();
    await using claimers = await startClaimers(board.store, points.length + 1);
    for (const [i, claimer] of claimers.processes.entries())
      await killAfter(board, claimer, CALLS.slice(0, i));
  });

  it('keeps its task until its last heartbeat is a whole lease ago, by the clock of Redis', async () => {
    await using board = await openBoardFixture();
    await using claimer = await startClaimer(board.store);
    const { jobId, a } = await twoTasks(board);
    expect(await claimer.claim(jobId, a, OWNER, LEASE_MS)).toBe('ok');
    expect(await claimer.call('heartbeat')).toBe('ok');
    const leaseUntil = Number(await board.store.redis.zscore(board.boards.keys.board(jobId, 'lease'), a));
    await claimer.kill();
    await untilGivenBack(board, jobId, a);
    const expired = (await eventsOf(board, jobId)).find(({ type }) => type === 'task.expired');
    expect(expired && timeOf(expired)).toBeGreaterThanOrEqual(leaseUntil);
  });

  it('while it works at full speed, at any moment, loses no call that it had an answer to', {
    timeout: 180_000,
  }, async () => {
    await using board = await openBoardFixture();
    const killedAfter = [1, 4, 9, 13, 20, 28];
    await using claimers = await startClaimers(board.store, killedAfter.length);
    for (const [i, claimer] of claimers.processes.entries())
      await killWhileWorking(board, claimer, killedAfter[i] ?? 1);
  });
});

/** Kills a process that works off many tasks when it has told of `answers` calls, wherever it is by then. */
async function killWhileWorking(board: BoardFixture, claimer: ClaimerProcess, answers: number) {
  const { boards } = board;
  const { jobId, ids } = await board.job(
    Array.from({ length: 12 }, (_, i) => ({ key: `k${i}`, title: `Task ${i}` })),
    { limits: { maxParallel: 12 } },
  );
  await boards.index.addLive(jobId);
  const taskIds = Object.values(ids);
  const worked: Worked[] = [];
  await new Promise<void>((resolve) => {
    claimer.work(jobId, taskIds, LEASE_MS, (call) => {
      worked.push(call);
      if (worked.length === answers) resolve();
    });
  });
  await killAndDrain(board, claimer);
  for (const taskId of taskIds) await untilGivenBack(board, jobId, taskId);

  const events = await eventsOf(board, jobId);
  for (const { taskId, call } of worked) {
    const has = (type: string) => events.some((event) => event.type === type && event.taskId === taskId);
    if (call === 'claim') expect(has('task.claimed')).toBe(true);
    if (call === 'note') expect(has('task.noted')).toBe(true);
    if (call === 'submit') expect(await boards.task(jobId, taskId)).toMatchObject({ status: 'completed' });
  }
  for (const taskId of taskIds) {
    const told = worked.filter((each) => each.taskId === taskId && each.call.startsWith('append '));
    const journal = await boards.readJournal(jobId, taskId);
    expect(journal.slice(0, told.length).map(({ kind }) => `append ${kind}`)).toEqual(
      told.map(({ call }) => call),
    );
    if ((await boards.task(jobId, taskId)).status === 'pending') await finish(board, jobId, taskId);
  }
  expect(await boards.job(jobId)).toMatchObject({ status: 'succeeded', counts: { completed: 12 } });
  expect((await boards.examine(jobId)).findings).toEqual([]);
}

/** A process that holds `a`, was stopped beyond its lease, and has lost it; it is still stopped. */
async function stoppedHolder(board: BoardFixture, claimer: ClaimerProcess) {
  const { jobId, a, b } = await twoTasks(board);
  expect(await claimer.claim(jobId, a, OWNER, LEASE_MS)).toBe('ok');
  expect(await claimer.call('append start')).toBe('ok');
  claimer.send('SIGSTOP');
  await untilGivenBack(board, jobId, a);
  return { jobId, a, b };
}

/** Sends all late calls to the stopped process, wakes it, and answers what each call came to. */
async function wakeWithLateCalls(claimer: ClaimerProcess): Promise<Record<string, string>> {
  const outcomes = LATE_CALLS.map(async (call) => [call, await claimer.call(call)] as const);
  claimer.send('SIGCONT');
  return Object.fromEntries(await Promise.all(outcomes));
}

describe.runIf(inject('redisKind') === 'server')('a holder that was stopped beyond its lease', () => {
  const lost = Object.fromEntries(LATE_CALLS.map((call) => [call, 'lease_lost']));

  it.each([
    { since: 'nobody has claimed the task', meanwhile: async () => {} },
    {
      since: 'the same owner has claimed it again',
      meanwhile: async (board: BoardFixture, jobId: string, a: string) => {
        await board.claim(jobId, a, OWNER, 60_000);
      },
    },
    { since: 'the task is completed', meanwhile: finish },
    {
      since: 'the job has ended',
      meanwhile: async (board: BoardFixture, jobId: string, a: string, b: string) => {
        await finish(board, jobId, a);
        await finish(board, jobId, b);
      },
    },
  ])(
    'is told lease_lost by each of its late calls, and changes nothing, when $since',
    async ({ meanwhile }) => {
      await using board = await openBoardFixture();
      await using claimer = await startClaimer(board.store);
      const { jobId, a, b } = await stoppedHolder(board, claimer);
      await meanwhile(board, jobId, a, b);
      const before = await dumpBoard(board.store, board.boards, jobId);
      expect(await wakeWithLateCalls(claimer)).toEqual(lost);
      expect(await dumpBoard(board.store, board.boards, jobId)).toEqual(before);
    },
  );

  it('does not get in the way of the same owner, who goes on with the same conversation', async () => {
    await using board = await openBoardFixture();
    await using claimer = await startClaimer(board.store);
    const { jobId, a, b } = await stoppedHolder(board, claimer);
    const { hold, task } = await board.claim(jobId, a, OWNER, 60_000);
    const journal = await board.boards.openJournal(hold, { attempt: task.attempt });
    await wakeWithLateCalls(claimer);
    await journal.append({ kind: 'message', texts: ['Going on.'] });
    await board.boards.submit(hold, newSecret(), task.version, NOTHING);
    await finish(board, jobId, b);
    expect((await board.boards.attempts(jobId, a, 2)).map(({ outcome }) => outcome)).toEqual([
      'expired',
      'completed',
    ]);
    expect((await board.boards.readJournal(jobId, a)).map(({ kind, attempt }) => [kind, attempt])).toEqual([
      ['start', 1],
      ['message', 2],
    ]);
    expect((await board.boards.job(jobId)).status).toBe('succeeded');
  });
});
