import { foldEvents, type Hold } from '@crewboard/board';
import { type JobLimitsInput, type NewTask, NO_USAGE, newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../../support/board.ts';
import { drainOutbox } from '../random-history.ts';

const NANO = 1_000_000_000;
const RESULT = { summary: 'done', artifacts: [], evidence: [] };
const FAILURE = { class: 'model', reason: 'no', retryable: false, delayMs: 0, infraStrikes: 3 } as const;

/** A call of `usd` at most, all of it input, unless `perToken` is given. */
function callOf(usd: number, more: { perToken?: number; tokens?: number; maxTokens?: number } = {}) {
  return {
    callId: newSecret(),
    price: { inputNanoUsd: Math.round(usd * NANO), outputNanoUsd: more.perToken ?? 0 },
    inputTokens: more.tokens ?? 0,
    maxTokens: more.maxTokens ?? 8192,
    leastMaxTokens: 1024,
  };
}

const settledAt = (usd: number, inputTokens = 0) => ({
  kind: 'settled' as const,
  nanoUsd: Math.round(usd * NANO),
  usage: { ...NO_USAGE, modelCalls: 1, inputTokens },
});

/** Reserves and settles one call at its worst case. */
async function spend({ boards }: BoardFixture, hold: Hold, usd: number): Promise<void> {
  const call = callOf(usd);
  expect(await boards.reserveCall(hold, call)).toMatchObject({ kind: 'reserved' });
  await boards.settleCall(hold, call.callId, settledAt(usd));
}

async function aJob(board: BoardFixture, limits: JobLimitsInput, tasks: NewTask[], lead = false) {
  const made = await board.job(tasks, { limits, lead });
  await board.boards.index.addLive(made.jobId);
  const id = (key: string) => made.ids[key] ?? '';
  const typesOf = async () => (await board.boards.events(made.jobId, '0-0', 1000)).map(({ type }) => type);
  const isSound = async () => {
    const { boards } = board;
    expect((await boards.examine(made.jobId)).findings).toEqual([]);
    const folded = foldEvents(await boards.events(made.jobId, '0-0', 1000));
    expect(folded.jobStatus).toBe((await boards.job(made.jobId)).status);
  };
  return { jobId: made.jobId, id, typesOf, isSound };
}

const TWO: NewTask[] = [
  { key: 'a', title: 'A' },
  { key: 'b', title: 'B' },
];

describe('a call', () => {
  it('that fits only with less output is granted less, but never under 1,024 tokens', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, { budgetUsd: 1 }, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    const price = { perToken: 100_000 };
    expect(await boards.reserveCall(hold, callOf(0, price))).toMatchObject({ maxTokens: 8192 });
    const patient = { ...callOf(0, price), isPatient: true };
    expect(await boards.reserveCall(hold, patient)).toMatchObject({ kind: 'busy' });
    expect(await boards.reserveCall(hold, callOf(0, price))).toMatchObject({ maxTokens: 1808 });
    expect(await boards.reserveCall(hold, callOf(0, price))).toMatchObject({ kind: 'busy' });
  });

  it('settled twice is booked once, also when the second one says something else', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, isSound } = await aJob(board, { budgetUsd: 1 }, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    const call = callOf(0.5);
    await boards.reserveCall(hold, call);
    await boards.settleCall(hold, call.callId, settledAt(0.2, 10));
    await boards.settleCall(hold, call.callId, settledAt(0.3, 20));
    expect(await boards.job(jobId)).toMatchObject({
      money: { settledUsd: 0.2, reservedUsd: 0 },
      usage: { inputTokens: 10 },
    });
    await isSound();
  });

  it('of an absurd cost leaves sums that can be read and are never negative', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, {}, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    const most = Number.MAX_SAFE_INTEGER;
    for (const nanoUsd of [most * 2000, most, Number.POSITIVE_INFINITY, -most]) {
      const call = callOf(0.1);
      await boards.reserveCall(hold, call);
      const usage = { ...NO_USAGE, modelCalls: 1, inputTokens: most, outputTokens: most };
      await boards.settleCall(hold, call.callId, { kind: 'settled', nanoUsd, usage });
    }
    const { money, usage } = await boards.job(jobId);
    expect(money).toMatchObject({ settledUsd: 9_000_000, reservedUsd: 0, estimatedUsd: 0 });
    expect(usage).toMatchObject({ modelCalls: 4, inputTokens: 9e15, outputTokens: 9e15 });
    const [attempt] = await boards.attempts(jobId, id('a'), 1);
    expect(attempt?.usage).toMatchObject({ settledUsd: 9_000_000, inputTokens: 9e15 });
  });

  it('that waits for calls under way is told what they have reserved', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, { budgetUsd: 0.25 }, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    await boards.reserveCall(hold, callOf(0.22));
    expect(await boards.reserveCall(hold, callOf(0.0462))).toEqual({
      kind: 'busy',
      reason:
        'of 0.2500 USD 0.0000 USD are spent, 0.2200 USD are reserved for calls under way, and the next call may take 0.0462 USD',
    });
  });

  it('settled by itself before its reply is journalled counts once', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, {}, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    const call = callOf(0.5);
    await boards.reserveCall(hold, call);
    await boards.settleCall(hold, call.callId, settledAt(0.2, 10));
    const journal = await boards.openJournal(hold, { attempt: 1 });
    const usage = { ...NO_USAGE, modelCalls: 1, inputTokens: 10 };
    await journal.append(
      { kind: 'reply', messageId: 'm', model: 'x', content: [], stopReason: 'end_turn', usage },
      { callId: call.callId, nanoUsd: 0.2 * NANO },
    );
    expect(await boards.job(jobId)).toMatchObject({
      money: { settledUsd: 0.2 },
      usage: { inputTokens: 10, modelCalls: 1 },
    });
  });

  it('is booked at its worst case when its attempt ends, and by its usage when that comes after the job has ended', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, typesOf, isSound } = await aJob(board, { budgetUsd: 1 }, [{ key: 'a', title: 'A' }]);
    const { hold, task } = await board.claim(jobId, id('a'));
    const call = callOf(0.5);
    await boards.reserveCall(hold, call);
    await boards.submit(hold, 'r', task.version, RESULT);
    expect(await boards.job(jobId)).toMatchObject({
      status: 'succeeded',
      money: { settledUsd: 0, estimatedUsd: 0.5, reservedUsd: 0 },
    });
    expect(await typesOf()).toContain('budget.estimated');
    const journal = await boards.openJournal(hold, { attempt: 1 });
    const usage = { ...NO_USAGE, modelCalls: 1, inputTokens: 10 };
    const late = journal.append(
      { kind: 'reply', messageId: 'm', model: 'x', content: [], stopReason: 'end_turn', usage },
      { callId: call.callId, nanoUsd: 0.1 * NANO },
    );
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
    const { money, usage: used } = await boards.job(jobId);
    expect(money).toEqual({ settledUsd: 0.1, estimatedUsd: 0, reservedUsd: 0, wastedUsd: 0 });
    expect(used).toEqual(usage);
    await isSound();
  });

  it('needs a token that is current to be reserved, and one of its task to be settled', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, {}, TWO);
    const first = await board.claim(jobId, id('a'));
    const call = callOf(0.5);
    await boards.reserveCall(first.hold, call);
    await boards.release(first.hold, 'r', 'later');
    await expect(boards.reserveCall(first.hold, callOf(0.1))).rejects.toMatchObject({ code: 'lease_lost' });
    const stranger = { ...first.hold, token: '1-nobody' };
    const settling = boards.settleCall(stranger, call.callId, settledAt(0));
    await expect(settling).rejects.toMatchObject({ code: 'not_owner' });
    // A call of another task is none of its own.
    const other = await board.claim(jobId, id('b'));
    await boards.settleCall(other.hold, call.callId, settledAt(0));
    expect((await boards.job(jobId)).money.estimatedUsd).toBe(0.5);
  });

  it('of a model without a price is refused under a cap in USD, and free without one', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, {}, [
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B', limits: { budgetUsd: 1 } },
    ]);
    const a = await board.claim(jobId, id('a'));
    const b = await board.claim(jobId, id('b'));
    const call = { ...callOf(0), price: undefined };
    expect(await boards.reserveCall(a.hold, call)).toMatchObject({ kind: 'reserved' });
    expect(await boards.reserveCall(b.hold, { ...call, callId: newSecret() })).toEqual({ kind: 'unpriced' });
  });
});

describe('a budget that is used up', () => {
  it('pauses the job; a raise lifts that, and a resume without one trips again', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, typesOf, isSound } = await aJob(board, { budgetUsd: 1 }, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    await spend(board, hold, 0.9);
    const refused = await boards.reserveCall(hold, callOf(0.2));
    expect(refused).toMatchObject({ kind: 'exhausted', attempt: 'park' });
    const paused = await boards.job(jobId);
    expect(paused).toMatchObject({ status: 'paused', pauses: ['budget'] });
    expect(paused.reason).toBe(
      'budget: of 1.0000 USD 0.9000 USD are spent, and the next call may take 0.2000 USD',
    );
    await boards.park(hold, 'r', { delayMs: 0, reason: 'budget', strikesToFail: 0 });
    expect((await boards.task(jobId, id('a'))).failures).toBe(0);
    await isSound();

    await boards.resumeJob(jobId, ANN);
    const again = await board.claim(jobId, id('a'));
    expect(await boards.reserveCall(again.hold, callOf(0.2))).toMatchObject({ kind: 'exhausted' });
    expect((await boards.job(jobId)).pauses).toEqual(['budget']);

    await boards.setBudget(jobId, ANN, { budgetUsd: 2 });
    const raised = await boards.job(jobId);
    expect(raised).toMatchObject({ status: 'running', pauses: [], spec: { limits: { budgetUsd: 2 } } });
    expect(await boards.reserveCall(again.hold, callOf(0.2))).toMatchObject({ kind: 'reserved' });
    expect((await typesOf()).filter((type) => type.startsWith('budget.'))).toEqual([
      'budget.exhausted',
      'budget.exhausted',
      'budget.changed',
    ]);
    await isSound();
  });

  it('counts tokens as well, cached ones too', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, { budgetTokens: 20_000 }, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    const call = callOf(0, { tokens: 5000 });
    expect(await boards.reserveCall(hold, call)).toMatchObject({ maxTokens: 8192 });
    const usage = { ...NO_USAGE, modelCalls: 1, cacheReadTokens: 4000, outputTokens: 8000 };
    await boards.settleCall(hold, call.callId, { kind: 'settled', nanoUsd: 0, usage });
    const next = await boards.reserveCall(hold, callOf(0, { tokens: 6000 }));
    expect(next).toEqual({ kind: 'reserved', maxTokens: 2000, usedShare: 0.6 });
    await boards.setBudget(jobId, ANN, { budgetTokens: 10_000 });
    expect(await boards.reserveCall(hold, callOf(0, { tokens: 1 }))).toMatchObject({ kind: 'exhausted' });
    await boards.setBudget(jobId, ANN, { budgetTokens: null });
    expect((await boards.job(jobId)).spec.limits.budgetTokens).toBeUndefined();
    expect((await boards.job(jobId)).pauses).toEqual([]);
  });

  it('of a task is that task’s own', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, { budgetUsd: 10 }, [
      { key: 'a', title: 'A', limits: { budgetUsd: 0.5 } },
      { key: 'b', title: 'B' },
    ]);
    const a = await board.claim(jobId, id('a'));
    const b = await board.claim(jobId, id('b'));
    await spend(board, a.hold, 0.4);
    expect(await boards.reserveCall(a.hold, callOf(0.2))).toMatchObject({
      kind: 'exhausted',
      attempt: 'fail',
    });
    expect(await boards.reserveCall(b.hold, callOf(0.2))).toMatchObject({ kind: 'reserved' });
    expect((await boards.job(jobId)).pauses).toEqual([]);
  });

  it('lets a job without a lead finish with what is under way, and end partial', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, isSound } = await aJob(board, { budgetUsd: 1, onLimit: 'finish', maxParallel: 2 }, [
      ...TWO,
      { key: 'c', title: 'C' },
      { key: 'd', title: 'D', dependsOn: ['c'] },
    ]);
    const a = await board.claim(jobId, id('a'));
    const b = await board.claim(jobId, id('b'));
    await spend(board, a.hold, 0.95);
    expect(await boards.reserveCall(b.hold, callOf(0.2))).toMatchObject({
      kind: 'exhausted',
      attempt: 'park',
    });
    await drainOutbox(boards, jobId);
    const statuses = async () =>
      (await boards.page(jobId, { after: 0, limit: 10 })).tasks.map((t) => t.status);
    expect(await statuses()).toEqual(['in_progress', 'in_progress', 'cancelled', 'cancelled']);
    await boards.submit(a.hold, 'r', a.task.version, RESULT);
    await boards.park(b.hold, 'r', { delayMs: 60_000, reason: 'budget', strikesToFail: 0 });
    await boards.sweep(jobId, { intervalMs: 0, leaseMs: 30_000, strikes: 3, staleMs: 60_000 });
    await drainOutbox(boards, jobId);
    expect(await statuses()).toEqual(['completed', 'cancelled', 'cancelled', 'cancelled']);
    expect(await boards.job(jobId)).toMatchObject({
      status: 'partial',
      reason: 'budget: the budget is used up',
    });
    const events = await boards.events(jobId, '0-0', 1000);
    expect(events.find(({ type }) => type === 'task.cancelled')?.data).toEqual({ reason: 'budget' });
    await isSound();
  });

  it('goes on winding up no further once it was raised', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const limits = { budgetUsd: 1, onLimit: 'finish' as const, maxParallel: 1 };
    const { jobId, id } = await aJob(board, limits, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    await spend(board, hold, 0.95);
    await boards.reserveCall(hold, callOf(0.2));
    await boards.setBudget(jobId, ANN, { budgetUsd: 2 });
    await drainOutbox(boards, jobId);
    expect(await boards.reserveCall(hold, callOf(0.2))).toMatchObject({ kind: 'reserved' });
    expect((await boards.task(jobId, id('b'))).status).toBe('pending');
  });

  it('that is being wound up can be cancelled, and is cancelled then', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id } = await aJob(board, { budgetUsd: 1, onLimit: 'finish' }, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    await spend(board, hold, 0.95);
    await boards.reserveCall(hold, callOf(0.2));
    await boards.cancelJob(jobId, 'user:ann', 'enough');
    await drainOutbox(boards, jobId);
    expect(await boards.job(jobId)).toMatchObject({ status: 'cancelled', reason: 'enough' });
  });

  it('fails the job when it is to fail', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, isSound } = await aJob(board, { budgetUsd: 1, onLimit: 'fail' }, TWO);
    const a = await board.claim(jobId, id('a'));
    const b = await board.claim(jobId, id('b'));
    await spend(board, a.hold, 0.5);
    await boards.submit(a.hold, 'r', a.task.version, RESULT);
    await spend(board, b.hold, 0.45);
    await boards.reserveCall(b.hold, callOf(0.2));
    await expect(boards.reserveCall(b.hold, callOf(0.01))).rejects.toMatchObject({ code: 'terminal' });
    await drainOutbox(boards, jobId);
    const { status, reason, money } = await boards.job(jobId);
    expect({ status, reason, money }).toEqual({
      status: 'failed',
      reason: 'budget: of 1.0000 USD 0.9500 USD are spent, and the next call may take 0.2000 USD',
      money: { settledUsd: 0.95, estimatedUsd: 0, reservedUsd: 0, wastedUsd: 0.45 },
    });
    await isSound();
  });
});

describe('the lead of a job', () => {
  async function aLead(board: BoardFixture, limits: JobLimitsInput, tasks: NewTask[]) {
    const made = await aJob(board, limits, tasks, true);
    const lead = (await board.boards.job(made.jobId)).lead ?? '';
    return { ...made, lead };
  }

  it('has a tenth of the budget kept for its last run', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, lead, isSound } = await aLead(board, { budgetUsd: 1 }, TWO);
    const first = await board.claim(jobId, lead);
    const a = await board.claim(jobId, id('a'));
    await spend(board, a.hold, 0.85);
    expect(await boards.reserveCall(a.hold, callOf(0.1))).toMatchObject({ kind: 'exhausted' });
    expect(await boards.reserveCall(first.hold, callOf(0.1))).toMatchObject({ kind: 'exhausted' });
    await boards.resumeJob(jobId, ANN);
    await boards.submit(a.hold, 'r', a.task.version, RESULT);
    const b = await board.claim(jobId, id('b'));
    await boards.submit(b.hold, 'r', b.task.version, RESULT);
    expect(await boards.reserveCall(first.hold, callOf(0.1))).toMatchObject({ kind: 'reserved' });
    await isSound();
  });

  it('is woken to finish once the rest is wound up, and the job ends partial', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, lead, isSound } = await aLead(board, { budgetUsd: 1, onLimit: 'finish' }, TWO);
    const first = await board.claim(jobId, lead);
    expect(await boards.waitForNews(first.hold, 'w')).toBe('parked');
    const a = await board.claim(jobId, id('a'));
    await spend(board, a.hold, 0.85);
    await boards.reserveCall(a.hold, callOf(0.1));
    await drainOutbox(boards, jobId);
    // Somebody still works: its last money is not spent on a look at that.
    expect((await boards.task(jobId, lead)).readiness).toEqual({ state: 'waiting', on: ['news'] });
    await boards.park(a.hold, 'r', { delayMs: 60_000, reason: 'budget', strikesToFail: 0 });
    await boards.sweep(jobId, { intervalMs: 0, leaseMs: 30_000, strikes: 3, staleMs: 60_000 });
    await drainOutbox(boards, jobId);
    const last = await board.claim(jobId, lead);
    expect(await boards.reserveCall(last.hold, callOf(0.1))).toMatchObject({ kind: 'reserved' });
    const asOf = (await boards.job(jobId)).asOf;
    const after = await boards.openJournal(last.hold, { attempt: 2, cursorFor: () => asOf });
    await after.append({ kind: 'message', texts: ['news'] });
    expect(await boards.finishJob(last.hold, 'f', { summary: 'what there is' }, [])).toMatchObject({
      kind: 'ended',
      status: 'partial',
    });
    expect((await boards.job(jobId)).reason).toBe('budget: the budget is used up');
    await isSound();
  });

  it('that runs itself into the limit may use what was kept, and fails when that is not enough', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, lead, isSound } = await aLead(board, { budgetUsd: 1, onLimit: 'finish' }, TWO);
    const first = await board.claim(jobId, lead);
    const a = await board.claim(jobId, id('a'));
    await boards.submit(a.hold, 'r', a.task.version, RESULT);
    await spend(board, first.hold, 0.85);
    await spend(board, first.hold, 0.1);
    expect(await boards.reserveCall(first.hold, callOf(0.1))).toMatchObject({
      kind: 'exhausted',
      attempt: 'fail',
    });
    await boards.fail(first.hold, 'e', { ...FAILURE, class: 'budget' });
    await drainOutbox(boards, jobId);
    expect(await boards.job(jobId)).toMatchObject({ status: 'partial', reason: 'lead: budget' });
    await isSound();
  });
});

describe('what is wasted', () => {
  it('is what was settled of attempts that failed, and of tasks that did not complete', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, id, isSound } = await aJob(board, { maxAttempts: 2 }, TWO);
    const wasted = async () => (await boards.job(jobId)).money.wastedUsd;
    const first = await board.claim(jobId, id('a'));
    await spend(board, first.hold, 0.1);
    await boards.release(first.hold, 'r1', 'later');
    expect(await wasted()).toBe(0);
    const second = await board.claim(jobId, id('a'));
    await spend(board, second.hold, 0.2);
    await boards.fail(second.hold, 'r2', { ...FAILURE, retryable: true });
    expect(await wasted()).toBe(0.2);
    const third = await board.claim(jobId, id('a'));
    await spend(board, third.hold, 0.3);
    await boards.fail(third.hold, 'r3', { ...FAILURE, retryable: true });
    expect(await wasted()).toBe(0.6);
    const { version } = await boards.task(jobId, id('a'));
    await boards.change(jobId, {
      by: ANN,
      maxAttempts: 2,
      reopens: [{ taskId: id('a'), version, reason: 'x' }],
    });
    expect(await wasted()).toBe(0.5);
    const last = await board.claim(jobId, id('a'));
    await boards.submit(last.hold, 'r4', last.task.version, RESULT);
    expect(await wasted()).toBe(0.5);
    const b = await board.claim(jobId, id('b'));
    await spend(board, b.hold, 0.4);
    await boards.cancelJob(jobId, 'user:ann', 'enough');
    await drainOutbox(boards, jobId);
    expect(await wasted()).toBe(0.9);
    await isSound();
  });
});

describe('the doctor', () => {
  it.each([
    ['a sum of the job that is off', '@', 1, 5],
    ['a sum of a task that is off', 'task', 2, 5],
    ['a sum of an attempt that is off', 'attempt', 1, 5],
    ['a waste that no state explains', '@', 7, 5],
  ])('finds %s', async (_, which, position, value) => {
    await using board = await openBoardFixture();
    const { boards, store } = board;
    const { jobId, id, isSound } = await aJob(board, { budgetUsd: 1 }, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    await spend(board, hold, 0.1);
    await boards.reserveCall(hold, callOf(0.1));
    await isSound();
    const field = { '@': '@', task: id('a'), attempt: `${id('a')}:1` }[which] ?? '';
    await store.redis.eval(
      `local record = cmsgpack.unpack(redis.call('HGET', KEYS[1], ARGV[1]))
record[tonumber(ARGV[2])] = tonumber(ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], cmsgpack.pack(record))`,
      1,
      boards.keys.board(jobId, 'spend'),
      field,
      position,
      value,
    );
    const { findings } = await boards.examine(jobId);
    expect(findings.map(({ check }) => check)).toContain('spend');
  });

  it('books calls that an attempt left reserved when it ended', async () => {
    await using board = await openBoardFixture();
    const { boards, store } = board;
    const { jobId, id } = await aJob(board, { budgetUsd: 1 }, TWO);
    const { hold } = await board.claim(jobId, id('a'));
    const call = callOf(0.1);
    await boards.reserveCall(hold, call);
    const key = boards.keys.board(jobId, 'spend');
    const before = await store.redis.hgetallBuffer(key);
    await boards.release(hold, 'r', 'later');
    for (const [field, value] of Object.entries(before)) await store.redis.hset(key, field, value);
    const { findings } = await boards.examine(jobId, { repair: true });
    expect(findings).toMatchObject([{ check: 'spend', taskId: id('a'), repaired: true }]);
    expect((await boards.job(jobId)).money).toMatchObject({ reservedUsd: 0, estimatedUsd: 0.1 });
    expect((await boards.examine(jobId)).findings).toEqual([]);
  });
});
