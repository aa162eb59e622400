import { describe, expect, inject, it } from 'vitest';
import { openBoardFixture } from '../support/board.ts';

const refusedWith = (code: string) => expect.objectContaining({ code });
const submitted = { summary: 'done', output: { n: 1 }, artifacts: [], evidence: [] };

describe('a board', () => {
  it('completes a task, makes its dependent ready and ends the job with true counts', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'First' },
      { key: 'b', title: 'Second', dependsOn: ['a'] },
    ]);
    const a = ids.a ?? '';
    const b = ids.b ?? '';
    expect((await boards.job(jobId)).counts).toMatchObject({ total: 2, pending: 2, ready: 1, waiting: 1 });
    expect((await boards.task(jobId, b)).readiness).toEqual({ state: 'waiting', on: [a] });

    const first = await board.claim(jobId, a);
    expect(first.task).toMatchObject({ status: 'in_progress', attempt: 1, version: 2 });
    await boards.submit(first.hold, 'r1', first.task.version, submitted);
    expect((await boards.task(jobId, a)).result).toEqual({
      summary: 'done',
      output: { n: 1 },
      artifacts: [],
    });
    expect((await boards.task(jobId, b)).readiness).toEqual({ state: 'ready' });

    const second = await board.claim(jobId, b);
    await boards.submit(second.hold, 'r2', second.task.version, submitted);
    const job = await boards.job(jobId);
    expect(job.status).toBe('succeeded');
    expect(job.counts).toMatchObject({ total: 2, pending: 0, completed: 2 });
    const types = (await boards.events(jobId, '0-0', 100)).map((event) => event.type);
    expect(types).toEqual([
      'task.added',
      'task.added',
      'job.submitted',
      'job.running',
      'task.claimed',
      'task.completed',
      'task.claimed',
      'task.completed',
      'job.succeeded',
    ]);
  });

  it('refuses a stale version, a foreign and an outdated token, and changes nothing', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'One' },
      { key: 'b', title: 'Two' },
    ]);
    const a = ids.a ?? '';
    const held = await board.claim(jobId, a);
    const other = await board.claim(jobId, ids.b ?? '');
    const before = await boards.task(jobId, a);
    await expect(boards.submit(held.hold, 'r1', held.task.version - 1, submitted)).rejects.toEqual(
      refusedWith('stale_version'),
    );
    await expect(
      boards.submit({ ...held.hold, token: other.token }, 'r1', held.task.version, submitted),
    ).rejects.toEqual(refusedWith('not_owner'));
    expect(await boards.task(jobId, a)).toEqual(before);
    await boards.release(held.hold, 'r2', 'stopping');
    const again = await board.claim(jobId, a);
    await expect(boards.submit(held.hold, 'r3', again.task.version, submitted)).rejects.toEqual(
      refusedWith('lease_lost'),
    );
    await expect(boards.heartbeat(held.hold, 1000)).rejects.toEqual(refusedWith('lease_lost'));
    await boards.submit(again.hold, 'r4', again.task.version, submitted);
    expect(await boards.submit(again.hold, 'r4', again.task.version, submitted)).toMatchObject({
      already: true,
    });
  });

  it('tries a failed task again with the earlier failure on record, and fails it after its last attempt', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'One', maxAttempts: 2 },
      { key: 'b', title: 'Two', dependsOn: ['a'] },
      { key: 'c', title: 'Three', dependsOn: [{ task: 'a', condition: 'settled' }] },
    ]);
    const a = ids.a ?? '';
    const failure = {
      class: 'model' as const,
      reason: 'no idea',
      retryable: true,
      delayMs: 0,
      infraStrikes: 3,
    };
    const first = await board.claim(jobId, a);
    await boards.fail(first.hold, 'r1', failure);
    expect(await boards.task(jobId, a)).toMatchObject({
      status: 'pending',
      failures: 1,
      readiness: { state: 'ready' },
    });
    const second = await board.claim(jobId, a);
    expect(second.fresh).toBe(true);
    await boards.fail(second.hold, 'r2', failure);
    expect(await boards.task(jobId, a)).toMatchObject({
      status: 'failed',
      failure: { class: 'model', reason: 'no idea' },
    });
    expect((await boards.task(jobId, ids.b ?? '')).readiness).toEqual({
      state: 'unreachable',
      because: [a],
    });
    const third = await board.claim(jobId, ids.c ?? '');
    await boards.submit(third.hold, 'r3', third.task.version, submitted);
    const job = await boards.job(jobId);
    expect(job.status).toBe('partial');
    expect(job.counts).toMatchObject({ total: 3, completed: 1, failed: 1, unreachable: 1, pending: 1 });
    expect((await boards.attempts(jobId, a, 2)).map((attempt) => attempt.outcome)).toEqual([
      'failed',
      'failed',
    ]);
  });

  it('never holds more than maxParallel tasks in its window', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const tasks = Array.from({ length: 20 }, (_, i) => ({ key: `k${i}`, title: `Task ${i}` }));
    const { jobId } = await board.job(tasks, { limits: { maxParallel: 3 } });
    const outbox = await boards.readOutbox(jobId, 100);
    expect(outbox.map((entry) => entry.kind)).toEqual(['enqueue', 'enqueue', 'enqueue']);
    const [first] = outbox;
    const held = await board.claim(jobId, first?.taskId ?? '');
    expect(await boards.readOutbox(jobId, 100)).toHaveLength(3);
    await boards.submit(held.hold, 'r1', held.task.version, submitted);
    expect(await boards.readOutbox(jobId, 100)).toHaveLength(4);
  });

  it('wakes a waiting lead when a task fails and when all is settled, and lets it finish only then', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job([], { lead: true });
    const lead = (await boards.job(jobId)).lead ?? '';
    expect((await boards.job(jobId)).status).toBe('planning');
    const run = await board.claim(jobId, lead);
    const [task] = await boards.add(jobId, {
      tasks: [{ key: 'a', title: 'One', maxAttempts: 1 }],
      by: { kind: 'lead', id: 'lead' },
      maxAttempts: 3,
      lead: { token: run.token, requestId: 'plan-1' },
    });
    const repeated = await boards.add(jobId, {
      tasks: [{ key: 'a', title: 'One', maxAttempts: 1 }],
      by: { kind: 'lead', id: 'lead' },
      maxAttempts: 3,
      lead: { token: run.token, requestId: 'plan-1' },
    });
    expect(repeated).toEqual([task]);
    expect((await boards.job(jobId)).counts.total).toBe(1);
    expect(await boards.finishJob(run.hold, 'f1', { summary: 'x' }, [])).toMatchObject({
      kind: 'open',
      openCount: 1,
    });
    expect(await boards.waitForNews(run.hold, 'w1')).toBe('parked');
    expect((await boards.readTasks(jobId, [lead], false))[0]?.readiness).toEqual({
      state: 'waiting',
      on: ['news'],
    });
    const held = await board.claim(jobId, task?.taskId ?? '');
    await boards.fail(held.hold, 'r1', {
      class: 'model',
      reason: 'no',
      retryable: true,
      delayMs: 0,
      infraStrikes: 3,
    });
    const again = await board.claim(jobId, lead);
    expect(await boards.finishJob(again.hold, 'f2', { summary: 'x' }, [])).toEqual({ kind: 'news' });
    const journal = await boards.openJournal(again.hold, { attempt: 2, cursorFor: () => '9999999999999-0' });
    await journal.append({ kind: 'message', texts: ['news'] });
    expect(await boards.waitForNews(again.hold, 'w2')).toBe('still');
    expect(await boards.finishJob(again.hold, 'f3', { summary: 'x' }, [])).toEqual({
      kind: 'ended',
      status: 'partial',
    });
    expect((await boards.job(jobId)).status).toBe('partial');
  });

  it('cancels a job in slices, every open task and the lead', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const count = inject('redisKind') === 'embedded' ? 250 : 1200;
    const tasks = Array.from({ length: count }, (_, i) => ({ title: `Task ${i}` }));
    const { jobId } = await board.job(tasks, { lead: true });
    expect(await boards.cancelJob(jobId, 'user:ann', 'enough')).toBe(true);
    for (
      let entries = await boards.readOutbox(jobId, 1000);
      entries.length > 0;
      entries = await boards.readOutbox(jobId, 1000)
    ) {
      for (const entry of entries) await boards.carryOut(jobId, entry);
      await boards.removeFromOutbox(
        jobId,
        entries.map((entry) => entry.id),
      );
    }
    const job = await boards.job(jobId);
    expect(job.status).toBe('cancelled');
    expect(job.counts).toMatchObject({ total: count, cancelled: count, pending: 0 });
  });

  it('gives a dead holder’s task back after its lease and fails it as infra after three strikes', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'One' }]);
    const a = ids.a ?? '';
    const sweep = () => boards.sweep(jobId, { intervalMs: 0, leaseMs: 1_000_000, strikes: 3, staleMs: 1000 });
    for (const status of ['pending', 'pending', 'failed']) {
      const held = await board.claim(jobId, a, 'worker-1', 1);
      await expect
        .poll(async () => {
          await sweep();
          return (await boards.task(jobId, a)).status;
        })
        .toBe(status);
      await expect(boards.heartbeat(held.hold, 1000)).rejects.toEqual(
        refusedWith(status === 'failed' ? 'lease_lost' : 'lease_lost'),
      );
    }
    expect((await boards.task(jobId, a)).failure?.class).toBe('infra');
    expect((await boards.job(jobId)).status).toBe('failed');
  });

  it('settles more dependents than one script may, in slices, before the job can end', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const tasks = [
      { key: 'root', title: 'Root' },
      ...Array.from({ length: 1300 }, (_, i) => ({ title: `Leaf ${i}`, dependsOn: ['root'] })),
    ];
    const { jobId, ids } = await board.job(tasks);
    const held = await board.claim(jobId, ids.root ?? '');
    await boards.submit(held.hold, 'r', held.task.version, submitted);
    expect((await boards.job(jobId)).counts).toMatchObject({ ready: 500, waiting: 800 });
    const settle = (await boards.readOutbox(jobId, 100)).filter((entry) => entry.kind === 'settle');
    for (const entry of settle) await boards.carryOut(jobId, entry);
    for (const entry of settle) await boards.carryOut(jobId, entry);
    expect((await boards.job(jobId)).counts).toMatchObject({ ready: 1300, waiting: 0 });
    for (const entry of settle) await boards.carryOut(jobId, entry);
    expect((await boards.job(jobId)).counts).toMatchObject({ ready: 1300, waiting: 0 });
  });
});
