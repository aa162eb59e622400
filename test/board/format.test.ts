import type { Boards } from '@crewboard/board';
import { DEFAULT_LIMITS, type JobSpec } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN, openBoardFixture } from '../support/board.ts';
import { dumpBoard, loadBoard, loadFixture } from '../support/board-dump.ts';

const SET_FORMAT = `local B = cmsgpack.unpack(redis.call('HGET', KEYS[1], '@'))
B[1] = tonumber(ARGV[1])
redis.call('HSET', KEYS[1], '@', cmsgpack.pack(B))`;
const RESULT = { summary: 'done', artifacts: [], evidence: [] };
const TASK = 't_zzzzzzzz';
const SPEC: Omit<JobSpec, 'id'> = {
  v: 1,
  project: 'default',
  title: 'A job',
  models: { lead: 'claude-opus-5-5', worker: 'claude-sonnet-5-5' },
  limits: DEFAULT_LIMITS,
  allowParallelInProgress: true,
  tools: [],
  provider: 'anthropic',
  createdBy: 'ann',
};

/** Every call that reads or changes a board through a script of its own. */
const CALLS: Record<string, (boards: Boards, jobId: string) => Promise<unknown>> = {
  job: (boards, jobId) => boards.job(jobId),
  task: (boards, jobId) => boards.task(jobId, TASK),
  page: (boards, jobId) => boards.page(jobId, { after: 0, limit: 10 }),
  snapshot: (boards, jobId) => boards.snapshot(jobId),
  add: (boards, jobId) => boards.add(jobId, { tasks: [{ title: 'New' }], by: ANN, maxAttempts: 3 }),
  cancel: (boards, jobId) =>
    boards.change(jobId, { by: ANN, maxAttempts: 3, cancels: [{ taskId: TASK, version: 1, reason: '' }] }),
  flip: (boards, jobId) => boards.flip(jobId, ANN, ''),
  claim: (boards, jobId) =>
    boards.claim(jobId, {
      taskId: TASK,
      owner: { kind: 'sub-agent', id: 'w' },
      secret: 's',
      requestId: 'r',
      leaseMs: 1000,
    }),
  heartbeat: (boards, jobId) => boards.heartbeat({ jobId, taskId: TASK, token: '1-s' }, 1000),
  note: (boards, jobId) => boards.note({ jobId, taskId: TASK, token: '1-s' }, 'r', 'text'),
  submit: (boards, jobId) => boards.submit({ jobId, taskId: TASK, token: '1-s' }, 'r', 1, RESULT),
  fail: (boards, jobId) =>
    boards.fail({ jobId, taskId: TASK, token: '1-s' }, 'r', {
      class: 'model',
      reason: '',
      retryable: false,
      delayMs: 0,
      infraStrikes: 3,
    }),
  release: (boards, jobId) => boards.release({ jobId, taskId: TASK, token: '1-s' }, 'r', ''),
  block: (boards, jobId) =>
    boards.block({ jobId, taskId: TASK, token: '1-s' }, 'r', { kind: 'external', reason: '' }),
  propose: (boards, jobId) =>
    boards.propose(
      { jobId, taskId: TASK, token: '1-s' },
      'r',
      { title: 'New' },
      { kind: 'human', id: 'x' },
      3,
    ),
  resolve: (boards, jobId) =>
    boards.resolve(jobId, { taskId: TASK, version: 1, decision: 'approve', text: '', by: ANN }),
  startChecks: (boards, jobId) => boards.startChecks(jobId, TASK, 'harness:x', 1000),
  endChecks: (boards, jobId) =>
    boards.endChecks(
      jobId,
      TASK,
      { token: 't', version: 1 },
      { passed: true, reason: '', evidence: [], delayMs: 0, told: { passed: true, checks: [] } },
    ),
  releaseChecks: (boards, jobId) => boards.releaseChecks({ jobId, taskId: TASK, token: 't' }, 0, ''),
  reviewOf: (boards, jobId) => boards.reviewOf(jobId, TASK),
  finishJob: (boards, jobId) =>
    boards.finishJob({ jobId, taskId: TASK, token: '1-s' }, 'r', { summary: '' }, []),
  appendJournal: async (boards, jobId) => {
    const journal = await boards.openJournal({ jobId, taskId: TASK, token: '1-s' }, { attempt: 1 });
    await journal.append({ kind: 'message', texts: ['x'] });
  },
  pauseJob: (boards, jobId) => boards.pauseJob(jobId, ANN, 'user', ''),
  resumeJob: (boards, jobId) => boards.resumeJob(jobId, ANN),
  markModelDown: (boards, jobId) => boards.markModelDown(jobId, 'm', 'r'),
  markBrake: (boards, jobId) => boards.markBrake(jobId, 'm', { from: 1, until: 2, reason: 'r' }),
  wakeParked: (boards, jobId) => boards.wakeParked(jobId, 'm', [{ taskId: TASK, attempt: 1 }]),
  editJob: async (boards, jobId) => {
    const spec = { ...SPEC, id: jobId };
    await boards.editJob(spec, { by: ANN, version: 1, limits: DEFAULT_LIMITS, changed: {} });
  },
  cancelJob: (boards, jobId) => boards.cancelJob(jobId, 'user:ann', ''),
};

describe('a board in a newer format', () => {
  it.each(Object.entries(CALLS))('is refused by %s with what to do', async (_, call) => {
    await using board = await openBoardFixture();
    const { jobId } = await board.job([{ title: 'One' }]);
    const key = board.boards.keys.board(jobId, 'hot');
    await board.store.redis.eval(SET_FORMAT, 1, key, 2);
    const before = await dumpBoard(board.store, board.boards, jobId);
    await expect(call(board.boards, jobId)).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'this board was written by a newer version of Crewboard; upgrade this process.',
    });
    expect(await dumpBoard(board.store, board.boards, jobId)).toEqual(before);
  });

  it('is left alone by the sweep, and one finding for the doctor', async () => {
    await using board = await openBoardFixture();
    const { jobId } = await board.job([{ title: 'One' }]);
    await board.store.redis.eval(SET_FORMAT, 1, board.boards.keys.board(jobId, 'hot'), 2);
    const before = await dumpBoard(board.store, board.boards, jobId);
    const options = { intervalMs: 0, leaseMs: 1000, strikes: 3, staleMs: 1000 };
    expect(await board.boards.sweep(jobId, options)).toEqual({ kind: 'recent' });
    const report = await board.boards.examine(jobId, { repair: true });
    expect(report).toMatchObject({ remaining: 1, findings: [{ check: 'format', found: 'format 2' }] });
    expect(await dumpBoard(board.store, board.boards, jobId)).toEqual(before);
  });
});

describe('a board in format 1', () => {
  const fixture = 'board-format-1.json';

  it('is read whole: states, texts, attempts, log and journal', async () => {
    await using board = await loadFixture(fixture);
    const { boards, jobId } = board;
    expect(await boards.examine(jobId)).toMatchObject({ status: 'running', tasks: 17, findings: [] });
    const job = await boards.job(jobId);
    expect(job.counts).toMatchObject({
      total: 15,
      pending: 7,
      in_progress: 2,
      in_review: 2,
      blocked: 1,
      completed: 1,
      failed: 1,
      cancelled: 1,
    });
    expect(job.usage).toMatchObject({ modelCalls: 1, inputTokens: 10 });
    const { tasks } = await boards.page(jobId, { after: 0, limit: 100, full: true });
    const completed = tasks.find(({ key }) => key === 'completed');
    expect(completed).toMatchObject({
      instructions: 'Count the words',
      input: { file: 'a.md' },
      labels: ['docs'],
      progress: '1 of 2',
      result: { summary: '12 words', output: { words: 12 }, artifacts: ['a.txt'] },
      evidence: [{ acceptanceId: 'one', text: 'wc -w' }],
    });
    const id = completed?.id ?? '';
    expect(await boards.attempts(jobId, id, 1)).toMatchObject([
      { attempt: 1, outcome: 'completed', owner: { kind: 'sub-agent', id: 'worker-1' } },
    ]);
    expect((await boards.readJournal(jobId, id)).map(({ kind }) => kind)).toEqual([
      'start',
      'message',
      'reply',
    ]);
    expect((await boards.events(jobId, '0-0', 1000)).map(({ type }) => type)).toContain('task.proposed');
  });

  it('goes on from where it is', async () => {
    await using board = await loadFixture(fixture);
    const { boards, jobId } = board;
    const { tasks } = await boards.page(jobId, { after: 0, limit: 100 });
    const blocked = tasks.find(({ key }) => key === 'blocked');
    const decision = { version: blocked?.version ?? 0, decision: 'unblock', text: 'a.md', by: ANN } as const;
    await boards.resolve(jobId, { taskId: blocked?.id ?? '', ...decision });
    const settled = tasks.find(({ key }) => key === 'settled');
    const claimed = await boards.claim(jobId, {
      taskId: settled?.id ?? '',
      owner: { kind: 'sub-agent', id: 'worker-9' },
      secret: 'secret',
      requestId: 'request',
      leaseMs: 30_000,
    });
    const hold = { jobId, taskId: settled?.id ?? '', token: claimed?.token ?? '' };
    await boards.submit(hold, 'r', claimed?.task.version ?? 0, RESULT);
    expect((await boards.examine(jobId)).findings).toEqual([]);
    expect((await boards.job(jobId)).counts).toMatchObject({ total: 15, completed: 2, blocked: 0 });
    // What it did not know of has its default.
    const [added] = await boards.add(jobId, { by: ANN, tasks: [{ title: 'New' }] });
    expect((await boards.task(jobId, added?.taskId ?? '')).maxAttempts).toBe(3);
    const { spec, version } = await boards.job(jobId);
    const limits = { ...spec.limits, maxAttempts: 5, jobTimeoutMs: 3_600_000 };
    await boards.editJob(spec, { by: ANN, version, limits, changed: { maxAttempts: 5 } });
    expect((await boards.task(jobId, added?.taskId ?? '')).maxAttempts).toBe(5);
    await boards.sweep(jobId, { intervalMs: 0, leaseMs: 30_000, strikes: 3, staleMs: 1000 });
    expect((await boards.job(jobId)).cancelling).toBe(false);
  });

  it('is written as the fixture says: a dump of it reads back the same', async () => {
    await using first = await loadFixture(fixture);
    const dump = await dumpBoard(first.store, first.boards, first.jobId);
    await using second = await loadBoard(dump);
    expect(await dumpBoard(second.store, second.boards, second.jobId)).toEqual(dump);
  });
});
