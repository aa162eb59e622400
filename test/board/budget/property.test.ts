import { type Hold, isLeaseLost, type Reserved } from '@crewboard/board';
import { NO_USAGE, newSecret } from '@crewboard/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../../support/board.ts';
import { BudgetModel, type ModelCall, type Request } from './model.ts';

const NANO = 1_000_000_000;
const TASKS = 3;
/** The second task has a cap of its own. */
const TASK_CAPS = [0, 400_000_000, 0];

const request = fc.record({
  inputNano: fc.integer({ min: 1_000_000, max: 120_000_000 }),
  outputNano: fc.integer({ min: 0, max: 30_000 }),
  inputTokens: fc.integer({ min: 0, max: 20_000 }),
  maxTokens: fc.constantFrom(500, 1024, 4096, 8192),
  isPatient: fc.boolean(),
});
const task = fc.nat({ max: TASKS - 1 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('reserve' as const), task, request }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      call: fc.nat(),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      how: fc.constantFrom('call', 'journal', 'estimate'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('again' as const), call: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      task,
      how: fc.constantFrom('release', 'fail', 'park', 'kill'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('cap' as const),
      nano: fc.integer({ min: 1_000_000, max: 2 * NANO }),
      tokens: fc.constantFrom(0, 30_000, 200_000),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One board and the model beside it. */
class Rig {
  readonly model = new BudgetModel({ nano: NANO, tokens: 100_000 }, TASK_CAPS);
  readonly holds: (Hold & { attempt: number })[] = [];
  readonly tokens = new Map<string, Hold>();
  readonly board: BoardFixture;
  jobId = '';
  ids: string[] = [];

  constructor(board: BoardFixture) {
    this.board = board;
  }

  async open(): Promise<void> {
    const { jobId, ids } = await this.board.job(
      TASK_CAPS.map((cap, i) => ({
        key: `${i}`,
        title: `Task ${i}`,
        maxAttempts: 100,
        ...(cap === 0 ? {} : { limits: { budgetUsd: cap / NANO } }),
      })),
      { limits: { budgetUsd: 1, budgetTokens: 100_000 } },
    );
    this.jobId = jobId;
    this.ids = TASK_CAPS.map((_, i) => ids[`${i}`] ?? '');
    await this.board.boards.index.addLive(jobId);
    for (let i = 0; i < TASKS; i++) await this.claim(i);
  }

  async claim(i: number): Promise<void> {
    const claimed = await this.board.claim(this.jobId, this.ids[i] ?? '');
    this.holds[i] = { ...claimed.hold, attempt: claimed.task.attempt };
  }

  hold(i: number) {
    const hold = this.holds[i];
    if (hold === undefined) throw new Error('no such task');
    return hold;
  }

  async reserve(i: number, wanted: Request): Promise<void> {
    const { boards } = this.board;
    const expected = this.model.answer(i, wanted);
    const callId = newSecret();
    const worst = {
      callId,
      price: { inputNanoUsd: wanted.inputNano, outputNanoUsd: wanted.outputNano },
      inputTokens: wanted.inputTokens,
      maxTokens: wanted.maxTokens,
      leastMaxTokens: 1024,
      isPatient: wanted.isPatient,
    };
    const answer: Reserved = await boards.reserveCall(this.hold(i), worst);
    expect(answer).toMatchObject(expected);
    if (answer.kind === 'exhausted' && answer.attempt === 'park') {
      expect((await boards.job(this.jobId)).pauses).toEqual(['budget']);
      await boards.resumeJob(this.jobId, ANN);
    }
    if (answer.kind !== 'reserved') return;
    // Sent twice it reserves once.
    expect(await boards.reserveCall(this.hold(i), worst)).toMatchObject(expected);
    this.tokens.set(callId, this.hold(i));
    this.model.calls.push({
      id: callId,
      task: i,
      attempt: this.hold(i).attempt,
      state: 'reserved',
      nano: wanted.inputNano + answer.maxTokens * wanted.outputNano,
      tokens: wanted.inputTokens + answer.maxTokens,
    });
    const { nano, tokens } = this.model.caps;
    const all = ['settled', 'estimated', 'reserved'] as const;
    expect(this.model.sum('nano', all)).toBeLessThanOrEqual(nano);
    if (tokens > 0) expect(this.model.sum('tokens', all)).toBeLessThanOrEqual(tokens);
    if (TASK_CAPS[i]) expect(this.model.sum('nano', all, i)).toBeLessThanOrEqual(TASK_CAPS[i]);
  }

  async settle(call: ModelCall, share: number, how: string): Promise<void> {
    const { boards } = this.board;
    const hold = this.tokens.get(call.id) ?? this.hold(call.task);
    const nano = Math.floor(call.nano * share);
    const tokens = Math.floor(call.tokens * share);
    if (how === 'estimate') {
      await boards.settleCall(hold, call.id, { kind: 'estimated', nanoUsd: nano, tokens });
      Object.assign(call, { state: 'estimated', nano, tokens });
      return;
    }
    const usage = { ...NO_USAGE, modelCalls: 1, inputTokens: tokens };
    if (how === 'call') await boards.settleCall(hold, call.id, { kind: 'settled', nanoUsd: nano, usage });
    else {
      const journal = await boards.openJournal(hold, { attempt: call.attempt });
      const reply = {
        kind: 'reply' as const,
        messageId: 'm',
        model: 'x',
        content: [],
        stopReason: 'end_turn',
        usage,
      };
      // An attempt that is over takes no entry, and its call is settled all the same.
      await journal.append(reply, { callId: call.id, nanoUsd: nano }).catch((error: unknown) => {
        if (!isLeaseLost(error)) throw error;
      });
    }
    Object.assign(call, { state: 'settled', nano, tokens });
  }

  async end(i: number, how: string): Promise<void> {
    const { boards } = this.board;
    const hold = this.hold(i);
    const failure = { class: 'model' as const, reason: 'no', retryable: true, delayMs: 0, infraStrikes: 3 };
    if (how === 'release') await boards.release(hold, newSecret(), 'later');
    if (how === 'fail') await boards.fail(hold, newSecret(), failure);
    if (how === 'park') await boards.park(hold, newSecret(), { delayMs: 0, reason: '', strikesToFail: 0 });
    if (how === 'kill') {
      await boards.heartbeat(hold, 1);
      const sweep = () =>
        boards.sweep(this.jobId, { intervalMs: 0, leaseMs: 3_600_000, strikes: 1000, staleMs: 60_000 });
      const isHeld = async () => {
        await sweep();
        return (await boards.task(this.jobId, this.ids[i] ?? '')).status;
      };
      await expect.poll(isHeld, { interval: 2 }).toBe('pending');
    }
    this.model.end(i, hold.attempt, how === 'fail');
    await this.claim(i);
  }

  async step(each: Step): Promise<void> {
    const calls = this.model.calls;
    if (each.kind === 'reserve') await this.reserve(each.task, each.request);
    if (each.kind === 'end') await this.end(each.task, each.how);
    if (each.kind === 'settle') {
      const open = calls.filter(({ state }) => state !== 'settled');
      const call = open[each.call % Math.max(open.length, 1)];
      if (call !== undefined) await this.settle(call, each.share, each.how);
    }
    if (each.kind === 'again') {
      const done = calls.filter(({ state }) => state === 'settled');
      const call = done[each.call % Math.max(done.length, 1)];
      if (call === undefined) return;
      const cost = { kind: 'settled' as const, nanoUsd: 7, usage: { ...NO_USAGE, inputTokens: 7 } };
      await this.board.boards.settleCall(this.tokens.get(call.id) ?? this.hold(call.task), call.id, cost);
    }
    if (each.kind === 'cap') {
      this.model.caps = { nano: each.nano, tokens: each.tokens };
      await this.board.boards.setBudget(this.jobId, ANN, {
        budgetUsd: each.nano / NANO,
        budgetTokens: each.tokens === 0 ? null : each.tokens,
      });
    }
  }

  async compare(): Promise<void> {
    const { boards } = this.board;
    const { money, usage } = await boards.job(this.jobId);
    const usd = (state: ModelCall['state'], i?: number) => this.model.sum('nano', [state], i) / NANO;
    expect(money).toEqual({
      settledUsd: usd('settled'),
      estimatedUsd: usd('estimated'),
      reservedUsd: usd('reserved'),
      wastedUsd: this.model.wasted() / NANO,
    });
    expect(usage.inputTokens).toBe(this.model.sum('tokens', ['settled']));
    for (const [i, id] of this.ids.entries()) {
      const paid = (await boards.task(this.jobId, id)).usage;
      expect([paid.settledUsd ?? 0, paid.estimatedUsd ?? 0, paid.reservedUsd ?? 0]).toEqual([
        usd('settled', i),
        usd('estimated', i),
        usd('reserved', i),
      ]);
    }
  }
}

it('never books above a cap, whatever is reserved, settled, killed, settled late or raised', async () => {
  await using board = await openBoardFixture();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40, size: 'max' }), async (steps) => {
      const rig = new Rig(board);
      await rig.open();
      for (const each of steps) {
        await rig.step(each);
        await rig.compare();
      }
      expect((await board.boards.examine(rig.jobId)).findings).toEqual([]);
    }),
    { numRuns: 40 },
  );
}, 300_000);
