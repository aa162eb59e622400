import { newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';

const refusedWith = (code: string) => expect.objectContaining({ code });
const submitted = { summary: 'done', artifacts: [], evidence: [] };
const LEAD = { kind: 'lead', id: 'worker-1' } as const;

function sweepOf({ boards }: BoardFixture, jobId: string, leaseMs = 1_000_000, intervalMs = 0) {
  return () => boards.sweep(jobId, { intervalMs, leaseMs, strikes: 3, staleMs: 60_000 });
}

/** Sweeps until the task has the status. */
async function untilStatus(
  board: BoardFixture,
  jobId: string,
  taskId: string,
  status: string,
  sweep: () => Promise<unknown>,
) {
  const look = async () => {
    await sweep();
    return (await board.boards.task(jobId, taskId)).status;
  };
  await expect.poll(look, { interval: 5 }).toBe(status);
}

describe('a submit', () => {
  it('that was overtaken can neither add to the board nor flip it', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job([{ title: 'A' }], { flip: false });
    const late = { tasks: [{ title: 'B' }], by: ANN, maxAttempts: 3, fill: 'another request' };
    await expect(boards.stage(jobId, late)).rejects.toEqual(refusedWith('unavailable'));
    await expect(boards.flip(jobId, ANN, 'another request')).rejects.toEqual(refusedWith('unavailable'));
    expect((await boards.job(jobId)).counts.total).toBe(1);
  });

  it('is deleted only while it is neither young nor flipped', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId: young } = await board.job([{ title: 'A' }], { flip: false });
    const { jobId: flipped } = await board.job([{ title: 'A' }]);
    expect(await boards.drop(young, 60_000)).toBe(false);
    expect(await boards.drop(flipped, 0)).toBe(false);
    expect((await boards.job(flipped)).counts.total).toBe(1);
    expect(await boards.drop(young, 0)).toBe(true);
    await expect(boards.job(young)).rejects.toEqual(refusedWith('not_found'));
    expect(await board.store.redis.keys(`*${young}*`)).toEqual([]);
  });
});

describe('strikes', () => {
  it('failures of the harness itself are strikes, no failures, and end at their bound', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const failure = {
      class: 'infra' as const,
      reason: 'a bug',
      retryable: true,
      delayMs: 0,
      infraStrikes: 3,
    };
    for (const status of ['pending', 'pending', 'failed']) {
      const held = await board.claim(jobId, ids.a ?? '');
      expect(held.fresh).toBe(false);
      await boards.fail(held.hold, newSecret(), failure);
      expect(await boards.task(jobId, ids.a ?? '')).toMatchObject({ status, failures: 0 });
    }
  });

  it('are forgotten when an attempt parks with growth, as when it expires with growth', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const park = async (growth: boolean) => {
      const held = await board.claim(jobId, ids.a ?? '');
      const journal = await boards.openJournal(held.hold, { attempt: held.task.attempt });
      const usage = {
        modelCalls: 1,
        inputTokens: 1,
        outputTokens: 1,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      };
      const reply = {
        kind: 'reply' as const,
        messageId: 'm',
        model: 'x',
        content: [],
        stopReason: 'end_turn',
        usage,
      };
      if (growth) await journal.append(reply);
      const options = { delayMs: 0, reason: 'overloaded', strikesToFail: 3 };
      const told = await boards.park(held.hold, newSecret(), options);
      const { status } = await boards.task(jobId, ids.a ?? '');
      expect(told).toBe(status === 'failed' ? 'failed' : 'parked');
      return status;
    };
    for (const growth of [false, false, true, false, false]) expect(await park(growth)).toBe('pending');
    expect(await park(false)).toBe('failed');
    const used = (await boards.attempts(jobId, ids.a ?? '', 6)).map(({ usage }) => usage?.modelCalls ?? 0);
    expect(used).toEqual([0, 0, 1, 0, 0, 0]);
  });

  it('a tool that was started before a fence and answered after it is no open tool', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const a = ids.a ?? '';
    for (let round = 0; round < 3; round++) {
      const held = await board.claim(jobId, a, 'w', 50);
      const before = await boards.openJournal(held.hold, { attempt: held.task.attempt });
      await before.append({ kind: 'tool.started', toolUseId: `t${round}`, name: 'x' });
      const after = await boards.openJournal(held.hold, { attempt: held.task.attempt });
      await after.append({ kind: 'tool.result', toolUseId: `t${round}`, content: 'ok', isError: false });
      await untilStatus(board, jobId, a, 'pending', sweepOf(board, jobId));
    }
    expect((await boards.task(jobId, a)).status).toBe('pending');
  });
});

describe('the sweep', () => {
  it('does not put expiry off for ever when every round comes late', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    await board.claim(jobId, ids.a ?? '', 'w', 20);
    const sweep = sweepOf(board, jobId, 20, 1);
    await sweep();
    const late = async () => {
      const startedAt = performance.now();
      await expect.poll(() => performance.now() - startedAt, { interval: 2 }).toBeGreaterThan(15);
      return sweep();
    };
    await untilStatus(board, jobId, ids.a ?? '', 'pending', late);
  });

  it('a built-in claim takes only what was dispatched; another delivery of the same attempt is dropped', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job(
      [
        { key: 'a', title: 'A' },
        { key: 'b', title: 'B' },
      ],
      { limits: { maxParallel: 1 } },
    );
    const input = {
      taskId: ids.b ?? '',
      owner: { kind: 'sub-agent' as const, id: 'w' },
      secret: newSecret(),
      requestId: newSecret(),
      leaseMs: 1000,
    };
    expect(await boards.claim(jobId, input)).toBeUndefined();
    expect((await boards.task(jobId, ids.b ?? '')).readiness).toEqual({ state: 'ready' });
  });
});

describe('the lead', () => {
  it('is not woken beyond maxLeadRuns, but once more when all is settled; then the board ends the job', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const tasks = ['a', 'b', 'c', 'd'].map((key) => ({ key, title: key, maxAttempts: 1 }));
    const { jobId, ids } = await board.job(tasks, { lead: true, limits: { maxLeadRuns: 1 } });
    const lead = (await boards.job(jobId)).lead ?? '';
    const fail = async (key: string) => {
      const held = await board.claim(jobId, ids[key] ?? '');
      await boards.fail(held.hold, 'f', {
        class: 'model',
        reason: 'no',
        retryable: false,
        delayMs: 0,
        infraStrikes: 3,
      });
    };
    const waits = async () => {
      const run = await board.claim(jobId, lead);
      const { asOf } = await boards.job(jobId);
      const journal = await boards.openJournal(run.hold, {
        attempt: run.task.attempt,
        cursorFor: () => asOf,
      });
      await journal.append({ kind: 'message', texts: ['news'] });
      return boards.waitForNews(run.hold, newSecret());
    };
    const readiness = async () => (await boards.readTasks(jobId, [lead], false))[0]?.readiness?.state;
    expect(await waits()).toBe('parked');
    await fail('a');
    expect(await waits()).toBe('parked');
    await fail('b');
    expect(await readiness()).toBe('waiting');
    await fail('c');
    await fail('d');
    expect(await readiness()).toBe('ready');
    const run = await board.claim(jobId, lead);
    const { asOf } = await boards.job(jobId);
    const journal = await boards.openJournal(run.hold, { attempt: run.task.attempt, cursorFor: () => asOf });
    await journal.append({ kind: 'message', texts: ['news'] });
    const added = {
      tasks: [{ title: 'One more' }],
      by: LEAD,
      maxAttempts: 3,
      lead: { token: run.token, requestId: 'p' },
    };
    const [more] = await boards.add(jobId, added);
    expect(await boards.waitForNews(run.hold, newSecret())).toBe('parked');
    const held = await board.claim(jobId, more?.taskId ?? '');
    await boards.submit(held.hold, 's', held.task.version, submitted);
    expect(await boards.job(jobId)).toMatchObject({ status: 'partial', reason: 'lead: maxLeadRuns' });
  });

  it('can not finish a job that is being cancelled, nor one with a single task open among many waived', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const tasks = Array.from({ length: 1010 }, (_, i) => ({ title: `T${i}` }));
    const { jobId } = await board.job(tasks, { lead: true });
    const run = await board.claim(jobId, (await boards.job(jobId)).lead ?? '');
    const waive = [];
    for (let after: number | undefined = 0; after !== undefined && waive.length < 1009; ) {
      const page = await boards.page(jobId, { after, limit: 100 });
      waive.push(...page.tasks.map(({ id }) => ({ taskId: id, reason: 'no' })));
      after = page.nextAfter;
    }
    const answer = await boards.finishJob(run.hold, 'f1', { summary: 'x' }, waive.slice(0, 1009));
    expect(answer).toMatchObject({ kind: 'open', openCount: 1 });
    expect((await boards.job(jobId)).status).toBe('running');
    await boards.cancelJob(jobId, 'user:ann', 'enough');
    await expect(boards.finishJob(run.hold, 'f2', { summary: 'x' }, waive)).rejects.toEqual(
      refusedWith('terminal'),
    );
  });
});

describe('a runner of checks', () => {
  it('has a token for the checks alone: no holder’s call takes it', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A', policy: 'checked' }]);
    const held = await board.claim(jobId, ids.a ?? '');
    await boards.submit(held.hold, 's', held.task.version, submitted, 'checks');
    const checks = await boards.startChecks(jobId, ids.a ?? '', 'worker:1', 60_000);
    const runner = { ...held.hold, token: checks?.token ?? '' };
    await expect(boards.submit(runner, 's2', 3, submitted)).rejects.toEqual(refusedWith('not_owner'));
    await expect(boards.release(runner, 'r', '')).rejects.toEqual(refusedWith('not_owner'));
    expect((await boards.heartbeat(runner, 60_000)).version).toBe(3);
    expect((await boards.task(jobId, ids.a ?? '')).status).toBe('in_review');
  });
});

describe('a request ID that an earlier attempt has used', () => {
  const again = async (board: BoardFixture, jobId: string, taskId: string) => {
    const { hold, task } = await board.claim(jobId, taskId);
    expect(task.attempt).toBe(2);
    await board.boards.submit(hold, 'z', task.version, submitted);
    expect((await board.boards.task(jobId, taskId)).status).toBe('completed');
  };

  it('submits a task that was opened again, and is no repeat of then', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const taskId = ids.a ?? '';
    const { hold, task } = await board.claim(jobId, taskId);
    await boards.submit(hold, 'z', task.version, submitted);
    const reopens = [{ taskId, version: task.version + 1, reason: 'again' }];
    await boards.change(jobId, { by: ANN, reopens });
    await again(board, jobId, taskId);
  });

  it('submits a task again whose review was rejected', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A', policy: 'approved' }]);
    const taskId = ids.a ?? '';
    const { hold, task } = await board.claim(jobId, taskId);
    await boards.submit(hold, 'z', task.version, submitted, 'review');
    const { version } = await boards.task(jobId, taskId);
    await boards.resolve(jobId, { taskId, version, decision: 'reject', text: 'no', by: ANN });
    await again(board, jobId, taskId);
  });
});
