import type { TaskChanges } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';

const refusedWith = (code: string, extras: object = {}) => expect.objectContaining({ code, ...extras });
const submitted = { summary: 'done', output: { n: 1 }, artifacts: [], evidence: [] };

async function drain({ boards }: BoardFixture, jobId: string): Promise<void> {
  for (let round = 0; round < 1000; round++) {
    const entries = await boards.readOutbox(jobId, 500);
    if (entries.length === 0) return;
    for (const entry of entries) await boards.carryOut(jobId, entry);
    await boards.removeFromOutbox(
      jobId,
      entries.map(({ id }) => id),
    );
  }
}

function edit(board: BoardFixture, jobId: string, taskId: string, version: number, patch: TaskChanges) {
  return board.boards.change(jobId, { by: ANN, maxAttempts: 3, edits: [{ taskId, version, patch }] });
}

describe('edits', () => {
  it('change only what they name, raise the version, and are refused at a stale one with what changed since', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'One', labels: ['x'], instructions: 'Do it' },
    ]);
    const a = ids.a ?? '';
    const { changed } = await edit(board, jobId, a, 1, { title: 'Two', priority: 0 });
    expect(changed).toEqual([{ taskId: a, version: 2 }]);
    expect(await board.boards.task(jobId, a)).toMatchObject({
      title: 'Two',
      labels: ['x'],
      instructions: 'Do it',
      priority: 0,
      key: 'a',
    });
    await expect(edit(board, jobId, a, 1, { title: 'Three' })).rejects.toEqual(
      refusedWith('stale_version', {
        extras: expect.objectContaining({
          current: expect.objectContaining({ version: 2, status: 'pending' }),
          changedSince: [
            expect.objectContaining({ field: 'title', version: 2, by: 'ann' }),
            expect.objectContaining({ field: 'priority', version: 2 }),
          ],
        }),
      }),
    );
  });

  it('of dependencies move readiness, and close no cycle', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B', dependsOn: ['a'] },
      { key: 'c', title: 'C', dependsOn: ['b'] },
    ]);
    const [a, b, c] = [ids.a ?? '', ids.b ?? '', ids.c ?? ''];
    await expect(edit(board, jobId, a, 1, { dependsOn: [a] })).rejects.toEqual(
      refusedWith('dependency_cycle'),
    );
    await expect(edit(board, jobId, a, 1, { dependsOn: ['c'] })).rejects.toEqual(
      refusedWith('dependency_cycle', { extras: expect.objectContaining({ cycle: [a, c, b, a] }) }),
    );
    await edit(board, jobId, c, 1, { dependsOn: [] });
    expect((await board.boards.task(jobId, c)).readiness).toEqual({ state: 'ready' });
    await edit(board, jobId, a, 1, { dependsOn: ['c'] });
    expect((await board.boards.task(jobId, a)).readiness).toEqual({ state: 'waiting', on: [c] });
    expect((await board.boards.job(jobId)).counts).toMatchObject({ ready: 1, waiting: 2, pending: 3 });
  });

  it('of a held task may change all but its dependencies, and its submit from before is refused', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const held = await board.claim(jobId, ids.a ?? '');
    await expect(edit(board, jobId, ids.a ?? '', 2, { dependsOn: ['b'] })).rejects.toEqual(
      refusedWith('invalid_transition', {
        extras: expect.objectContaining({ allowed: ['edit', 'cancel'] }),
      }),
    );
    await edit(board, jobId, ids.a ?? '', 2, { instructions: 'Otherwise' });
    await expect(board.boards.submit(held.hold, 'r', 2, submitted)).rejects.toEqual(
      refusedWith('stale_version', {
        extras: expect.objectContaining({
          changedSince: [expect.objectContaining({ field: 'instructions', version: 3 })],
        }),
      }),
    );
    await board.boards.submit(held.hold, 'r', 3, submitted);
    await expect(edit(board, jobId, ids.a ?? '', 4, { title: 'X' })).rejects.toEqual(refusedWith('terminal'));
  });

  it('are all or nothing in a batch', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const before = await board.boards.page(jobId, { after: 0, limit: 10 });
    await expect(
      board.boards.change(jobId, {
        by: ANN,
        maxAttempts: 3,
        adds: [{ key: 'c', title: 'C', dependsOn: ['a'] }],
        edits: [{ taskId: ids.a ?? '', version: 1, patch: { title: 'New' } }],
        cancels: [{ taskId: ids.b ?? '', version: 9, reason: 'no' }],
      }),
    ).rejects.toEqual(refusedWith('stale_version'));
    expect(await board.boards.page(jobId, { after: 0, limit: 10 })).toEqual(before);
  });
});

describe('cancel, reopen and retry', () => {
  it('cancel reaches every open task over completed edges, meets settled ones, and leaves the rest', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B', dependsOn: ['a'] },
      { key: 'c', title: 'C', dependsOn: ['b'] },
      { key: 'd', title: 'D', dependsOn: [{ task: 'a', condition: 'settled' }] },
      { key: 'e', title: 'E' },
    ]);
    await board.boards.change(jobId, {
      by: ANN,
      maxAttempts: 3,
      cancels: [{ taskId: ids.a ?? '', version: 1, reason: 'not needed', dependents: 'cancel' }],
    });
    await drain(board, jobId);
    const { tasks, counts } = await board.boards.page(jobId, { after: 0, limit: 10 });
    expect(tasks.map((task) => task.status)).toEqual([
      'cancelled',
      'cancelled',
      'cancelled',
      'pending',
      'pending',
    ]);
    expect(counts).toMatchObject({ cancelled: 3, ready: 2, total: 5 });
  });

  it('cancel with dependents held makes them unreachable with one event, and reopening brings them back', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B', dependsOn: ['a'] },
      { key: 'x', title: 'X' },
    ]);
    const [a, b] = [ids.a ?? '', ids.b ?? ''];
    await board.boards.change(jobId, {
      by: ANN,
      maxAttempts: 3,
      cancels: [{ taskId: a, version: 1, reason: 'no' }],
    });
    expect((await board.boards.task(jobId, b)).readiness).toEqual({ state: 'unreachable', because: [a] });
    const unreachable = (await board.boards.events(jobId, '0-0', 100)).filter(
      (e) => e.type === 'task.unreachable',
    );
    expect(unreachable.map((event) => event.taskId)).toEqual([b]);
    await board.boards.change(jobId, {
      by: ANN,
      maxAttempts: 3,
      reopens: [{ taskId: a, version: 2, reason: 'yes' }],
    });
    expect((await board.boards.task(jobId, b)).readiness).toEqual({ state: 'waiting', on: [a] });
    const held = await board.claim(jobId, a);
    await board.boards.submit(held.hold, 'r', held.task.version, submitted);
    expect((await board.boards.task(jobId, b)).readiness).toEqual({ state: 'ready' });
  });

  it('reopen opens an ended job again and names dependents that have started', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B', dependsOn: ['a'] },
    ]);
    const [a, b] = [ids.a ?? '', ids.b ?? ''];
    for (const id of [a, b]) {
      const held = await board.claim(jobId, id);
      await board.boards.submit(held.hold, 'r', held.task.version, submitted);
    }
    expect((await board.boards.job(jobId)).status).toBe('succeeded');
    await expect(edit(board, jobId, a, 3, { title: 'X' })).rejects.toEqual(refusedWith('terminal'));
    const { startedDependents } = await board.boards.change(jobId, {
      by: ANN,
      maxAttempts: 3,
      reopens: [{ taskId: a, version: 3, reason: 'again' }],
    });
    expect(startedDependents).toEqual([b]);
    expect(await board.boards.job(jobId)).toMatchObject({
      status: 'running',
      counts: { ready: 1, completed: 1 },
    });
    const held = await board.claim(jobId, a);
    await board.boards.submit(held.hold, 'r2', held.task.version, submitted);
    expect((await board.boards.job(jobId)).status).toBe('succeeded');
  });
});

describe('blocked, reviewed and proposed tasks', () => {
  it('a blocked task waits for an answer, which reaches the next attempt', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const a = ids.a ?? '';
    const held = await board.claim(jobId, a);
    await board.boards.block(held.hold, 'r', {
      kind: 'needs_input',
      reason: 'which file?',
      question: 'Which?',
    });
    expect(await board.boards.task(jobId, a)).toMatchObject({
      status: 'blocked',
      block: { kind: 'needs_input', reason: 'which file?', question: 'Which?' },
    });
    expect((await board.boards.job(jobId)).counts).toMatchObject({ blocked: 1, pending: 0, total: 1 });
    await expect(board.boards.heartbeat(held.hold, 1000)).rejects.toEqual(refusedWith('lease_lost'));
    await board.boards.resolve(jobId, { taskId: a, version: 3, decision: 'unblock', text: 'b.md', by: ANN });
    expect(await board.boards.task(jobId, a)).not.toHaveProperty('block');
    const [attempt] = await board.boards.attempts(jobId, a, 1);
    expect(attempt).toMatchObject({ outcome: 'blocked', answer: 'b.md' });
  });

  it('a task blocked by another one waits for it and is pending at once', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
      { key: 'c', title: 'C', dependsOn: ['a'] },
    ]);
    const held = await board.claim(jobId, ids.a ?? '');
    const on = ids.c ?? '';
    await expect(
      board.boards.block(held.hold, 'r', { kind: 'dependency', reason: 'needs c', on }),
    ).rejects.toEqual(refusedWith('dependency_cycle'));
    await board.boards.block(held.hold, 'r2', { kind: 'dependency', reason: 'needs b', on: ids.b ?? '' });
    expect(await board.boards.task(jobId, ids.a ?? '')).toMatchObject({
      status: 'pending',
      readiness: { state: 'waiting', on: [ids.b] },
    });
  });

  it('an approved task is completed, a rejected one tried again with the feedback', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A', policy: 'approved' }]);
    const a = ids.a ?? '';
    const first = await board.claim(jobId, a);
    await board.boards.submit(first.hold, 'r', 2, submitted, 'review');
    expect(await board.boards.task(jobId, a)).toMatchObject({ status: 'in_review', version: 3 });
    await board.boards.resolve(jobId, {
      taskId: a,
      version: 3,
      decision: 'reject',
      text: 'too short',
      by: ANN,
    });
    expect((await board.boards.attempts(jobId, a, 1))[0]).toMatchObject({
      outcome: 'rejected',
      answer: 'too short',
    });
    const second = await board.claim(jobId, a);
    expect(second.task.failures).toBe(0);
    await board.boards.submit(second.hold, 'r2', second.task.version, submitted, 'review');
    await board.boards.resolve(jobId, { taskId: a, version: 6, decision: 'approve', text: '', by: ANN });
    expect(await board.boards.job(jobId)).toMatchObject({ status: 'succeeded', counts: { completed: 1 } });
  });

  it('checks run under a lease of their own; a failed one is a failure, and a lost runner frees them', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A', policy: 'checked' }]);
    const a = ids.a ?? '';
    const first = await board.claim(jobId, a);
    await board.boards.submit(first.hold, 'r', 2, submitted, 'checks');
    const lost = await board.boards.startChecks(jobId, a, 'worker:1', 1);
    expect(await board.boards.startChecks(jobId, a, 'worker:2', 1000)).toBeUndefined();
    const sweep = { intervalMs: 0, leaseMs: 1_000_000, strikes: 3, staleMs: 1000 };
    await expect
      .poll(async () => {
        await board.boards.sweep(jobId, sweep);
        return board.boards.startChecks(jobId, a, 'worker:2', 100_000);
      })
      .toBeDefined();
    await expect(
      board.boards.endChecks(jobId, a, lost ?? { token: '', version: 0 }, {
        passed: true,
        reason: '',
        evidence: [],
        delayMs: 0,
        told: { passed: true, checks: [] },
      }),
    ).rejects.toEqual(refusedWith('lease_lost'));
  });

  it('a failed check sends the task back and counts as a failure', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A', policy: 'checked' }]);
    const a = ids.a ?? '';
    const first = await board.claim(jobId, a);
    await board.boards.submit(first.hold, 'r', 2, submitted, 'checks');
    const check = await board.boards.startChecks(jobId, a, 'worker:1', 1000);
    if (check === undefined) throw new Error('nothing to check');
    await board.boards.endChecks(jobId, a, check, {
      passed: false,
      reason: '2 tests fail',
      evidence: [],
      delayMs: 0,
      told: { passed: false, check: 'tests', reason: '2 tests fail' },
    });
    expect(await board.boards.task(jobId, a)).toMatchObject({ status: 'pending', failures: 1 });
    expect((await board.boards.attempts(jobId, a, 1))[0]).toMatchObject({
      outcome: 'failed',
      class: 'check',
      reason: '2 tests fail',
    });
  });

  it('a proposal stands outside counts until it is accepted, and nobody may depend on it', async () => {
    await using board = await openBoardFixture();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const held = await board.claim(jobId, ids.a ?? '');
    const by = { kind: 'sub-agent' as const, id: 'worker-1' };
    const yes = await board.boards.propose(held.hold, 'p1', { title: 'More' }, by, 3);
    expect(await board.boards.propose(held.hold, 'p1', { title: 'More' }, by, 3)).toEqual(yes);
    const no = await board.boards.propose(held.hold, 'p2', { title: 'Less' }, by, 3);
    expect((await board.boards.job(jobId)).counts.total).toBe(1);
    expect((await board.boards.task(jobId, yes.taskId)).readiness).toEqual({
      state: 'held',
      cause: 'proposal',
    });
    await expect(
      board.boards.add(jobId, { by: ANN, maxAttempts: 3, tasks: [{ title: 'X', dependsOn: [yes.taskId] }] }),
    ).rejects.toEqual(refusedWith('unknown_dependency'));
    await board.boards.resolve(jobId, {
      taskId: yes.taskId,
      version: 1,
      decision: 'approve',
      text: '',
      by: ANN,
    });
    await board.boards.resolve(jobId, {
      taskId: no.taskId,
      version: 1,
      decision: 'reject',
      text: '',
      by: ANN,
    });
    expect((await board.boards.job(jobId)).counts).toMatchObject({
      total: 2,
      ready: 1,
      in_progress: 1,
      cancelled: 0,
    });
    expect((await board.boards.task(jobId, no.taskId)).status).toBe('cancelled');
  });

  it('a paused board refuses claims, lets holders go on, and refills its window on resume', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const held = await board.claim(jobId, ids.a ?? '');
    expect(await boards.pauseJob(jobId, ANN, 'user', 'lunch')).toBe(true);
    expect(await boards.pauseJob(jobId, ANN, 'user', 'lunch')).toBe(false);
    expect(await boards.job(jobId)).toMatchObject({
      status: 'paused',
      counts: { held: 1, ready: 0, in_progress: 1 },
    });
    await expect(board.claim(jobId, ids.b ?? '')).rejects.toEqual(refusedWith('board_paused'));
    await boards.submit(held.hold, 'r', 2, submitted);
    await boards.removeFromOutbox(
      jobId,
      (await boards.readOutbox(jobId, 10)).map(({ id }) => id),
    );
    expect(await boards.resumeJob(jobId, ANN)).toBe(true);
    expect((await boards.readOutbox(jobId, 10)).map((entry) => [entry.kind, entry.taskId])).toEqual([
      ['enqueue', ids.b],
    ]);
    expect((await boards.job(jobId)).status).toBe('running');
  });
});

describe('replacing', () => {
  it('a failed task that a completed one replaces does not count against the job', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A', maxAttempts: 1 },
      { key: 'z', title: 'Z' },
    ]);
    const failing = await board.claim(jobId, ids.a ?? '');
    const failure = { class: 'model' as const, reason: 'no', retryable: true, delayMs: 0, infraStrikes: 3 };
    await boards.fail(failing.hold, 'f', failure);
    const [added] = await boards.add(jobId, {
      by: ANN,
      maxAttempts: 3,
      tasks: [{ title: 'A again', replaces: ids.a }],
    });
    expect((await boards.task(jobId, added?.taskId ?? '')).replaces).toBe(ids.a);
    for (const id of [ids.z ?? '', added?.taskId ?? '']) {
      const held = await board.claim(jobId, id);
      await boards.submit(held.hold, 's', held.task.version, submitted);
    }
    expect(await boards.job(jobId)).toMatchObject({
      status: 'succeeded',
      counts: { failed: 1, completed: 2 },
    });
  });
});
