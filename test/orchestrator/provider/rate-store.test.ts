import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RateStore } from '../../../packages/orchestrator/src/provider/rate-store.ts';
import { failing, MODEL, openTwoProcesses } from './support.ts';

/** Until `ms` are over by Redis' clock too: a timer of Node may be a millisecond early. */
const wait = (ms: number) => setTimeout(ms + 2);

const OTHER = { ...MODEL, model: 'another-model' };
const limited = (id: string, askedMs = 1) => ({
  id,
  task: id,
  end: 'rate_limited' as const,
  askedMs,
  why: '429',
});

/** Asks until it may start; every answer on the way says how long to wait. */
async function untilGo(store: RateStore, callId: string): Promise<number> {
  for (;;) {
    const answer = await store.admit(MODEL, callId);
    if (answer.kind === 'go') return performance.now();
    if (answer.kind === 'down') throw new Error(`down: ${answer.why}`);
    await wait(answer.ms);
  }
}

describe('the brake', () => {
  it('stops every process as soon as it is set, for its model alone', async () => {
    await using both = openTwoProcesses();
    expect(await both.other.admit(MODEL, 'a')).toEqual({ kind: 'go' });
    const { at } = await both.one.report(MODEL, failing('t1', 3000));
    const answer = await both.other.admit(MODEL, 'b');
    expect(answer).toMatchObject({
      kind: 'wait',
      cause: 'brake',
      brake: { from: at, until: at + 3000, why: expect.stringContaining('529') },
    });
    expect(await both.other.admit(OTHER, 'c')).toEqual({ kind: 'go' });
  });

  it('ends at the latest time that anybody was asked to wait for, and not later than a day', async () => {
    await using both = openTwoProcesses();
    const first = await both.one.report(MODEL, failing('t1', 3000));
    await both.other.report(MODEL, failing('t2', 100));
    expect(await both.one.admit(MODEL, 'a')).toMatchObject({ brake: { until: first.at + 3000 } });
    const { at } = await both.one.report(MODEL, failing('t3', 1e12));
    expect(await both.one.admit(MODEL, 'a')).toMatchObject({
      brake: { from: first.at, until: at + 86_400_000 },
    });
  });

  it('is set by an answer that uses a limit up, without taking the call its slot', async () => {
    await using both = openTwoProcesses();
    await both.one.admit(MODEL, 'a');
    await both.one.report(MODEL, { id: 'a', task: 't', end: 'asked', askedMs: 5000, why: 'used up' });
    expect(await both.other.admit(MODEL, 'b')).toMatchObject({ kind: 'wait', cause: 'brake' });
    expect(await both.store.redis.zcard(both.store.prefix.concat(':rate:slots:anthropic some-model'))).toBe(
      1,
    );
  });

  it('is followed by starts that are spread over more than a second, whoever asks', async () => {
    await using both = openTwoProcesses();
    await both.one.report(MODEL, failing('t', 100));
    const calls = Array.from({ length: 12 }, async (_, i) => {
      const at = await untilGo(i % 2 === 0 ? both.one : both.other, `c${i}`);
      await both.one.report(MODEL, { id: `c${i}`, task: `t${i}`, end: 'ok' });
      return at;
    });
    const starts = (await Promise.all(calls)).sort((a, b) => a - b);
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(1000);
    const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(1000);
  });
});

describe('the starts after an outage', () => {
  it('are spread over the same time however many calls come, though none of them waited at a brake', async () => {
    await using both = openTwoProcesses();
    for (const task of ['t1', 't2', 't3']) await both.one.report(MODEL, failing(task));
    await wait(both.times.brakeMs);
    expect(await both.one.takeProbe(MODEL, 'p')).toEqual({ kind: 'mine' });
    await both.one.endProbe(MODEL, 'p', { outcome: 'down', why: '529', askedMs: 0 });
    await both.one.report(MODEL, { id: 'x', task: 't9', end: 'ok' });
    const starts = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const at = await untilGo(i % 2 === 0 ? both.one : both.other, `c${i}`);
        await both.one.report(MODEL, { id: `c${i}`, task: `t${i}`, end: 'ok' });
        return at;
      }),
    );
    const tookMs = Math.max(...starts) - Math.min(...starts);
    expect(tookMs).toBeGreaterThanOrEqual(1000);
    expect(tookMs).toBeLessThan(3000);
  });
});

describe('the number of calls at once', () => {
  it('is free until a brake, then half of what was under way, and grows with answers', async () => {
    await using both = openTwoProcesses({ spreadMs: 0 });
    const ids = Array.from({ length: 8 }, (_, i) => `c${i}`);
    for (const id of ids) expect(await both.one.admit(MODEL, id)).toEqual({ kind: 'go' });
    for (const id of ids) await both.one.report(MODEL, limited(id, 50));
    const starts: string[] = [];
    for (const id of ids) {
      let answer = await both.other.admit(MODEL, id);
      while (answer.kind === 'wait' && answer.cause !== 'slots') {
        await wait(answer.ms);
        answer = await both.other.admit(MODEL, id);
      }
      if (answer.kind === 'go') starts.push(id);
    }
    expect(starts).toHaveLength(4);
    // Four answers make room for four more at once.
    for (const id of starts) await both.one.report(MODEL, { id, task: id, end: 'ok' });
    const again = await Promise.all(ids.map((id) => both.one.admit(MODEL, id)));
    expect(again.filter(({ kind }) => kind === 'go').length).toBeGreaterThan(4);
  });

  it('counts a call no more whose process does not renew it', async () => {
    await using both = openTwoProcesses({ spreadMs: 0, slotLeaseMs: 300 });
    await both.one.admit(MODEL, 'a');
    await both.one.report(MODEL, limited('a'));
    await untilGo(both.one, 'killed');
    const began = performance.now();
    expect((await untilGo(both.other, 'b')) - began).toBeLessThan(2000);
  });

  it('counts a call for as long as it is renewed', async () => {
    await using both = openTwoProcesses({ spreadMs: 0, slotLeaseMs: 300 });
    await both.one.admit(MODEL, 'a');
    await both.one.report(MODEL, limited('a'));
    await untilGo(both.one, 'long');
    for (let i = 0; i < 4; i++) {
      await both.one.renew(MODEL, ['long']);
      const answer = await both.other.admit(MODEL, 'b');
      expect(answer).toMatchObject({ kind: 'wait', cause: 'slots' });
      // Shorter than the lease, and four of them longer.
      if (answer.kind === 'wait') await wait(answer.ms);
    }
  });
});

describe('refused calls', () => {
  it('are probed for every job at once, later each time that a good probe was wrong', async () => {
    // Long enough that a busy machine does not use a pause up before it is asked for.
    const refusedMs = 400;
    await using both = openTwoProcesses({ refusedMs, refusedMostMs: 8 * refusedMs });
    const pauses: number[] = [];
    for (let i = 0; i < 3; i++) {
      await both.one.registerPaused(MODEL, 'job_a');
      await both.other.registerPaused(MODEL, 'job_b');
      const turn = await both.one.takeProbe(MODEL, `p${i}`);
      expect(turn.kind).toBe('later');
      if (turn.kind !== 'later') return;
      pauses.push(turn.ms);
      await wait(turn.ms);
      expect(await both.other.takeProbe(MODEL, `p${i}`)).toEqual({ kind: 'mine' });
      await both.other.endProbe(MODEL, `p${i}`, { outcome: 'answered', why: '', askedMs: 0 });
      expect((await both.one.pausedJobs(MODEL)).sort()).toEqual(['job_a', 'job_b']);
      for (const jobId of ['job_a', 'job_b']) await both.one.forgetPaused(MODEL, jobId);
    }
    expect(pauses.map((ms, i) => ms <= refusedMs * 2 ** i && ms > (refusedMs / 2) * 2 ** i)).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe('the circuit', () => {
  const opened = async (both: ReturnType<typeof openTwoProcesses>) => {
    for (const task of ['t1', 't2']) {
      expect(await both.one.report(MODEL, failing(task))).toMatchObject({ suspected: false });
    }
    expect(await both.other.report(MODEL, failing('t3'))).toMatchObject({ suspected: true });
    await wait(both.times.brakeMs);
  };
  const down = { outcome: 'down' as const, why: 'still 529', askedMs: 0 };

  it('is asked for a probe when three tasks fail without an answer between them, and one process makes it', async () => {
    await using both = openTwoProcesses();
    await opened(both);
    const turns = await Promise.all([both.one.takeProbe(MODEL, 'p1'), both.other.takeProbe(MODEL, 'p2')]);
    expect(turns.map(({ kind }) => kind).sort()).toEqual(['later', 'mine']);
    expect(await both.one.admit(MODEL, 'a')).toMatchObject({ kind: 'wait', cause: 'asking' });
  });

  it('stays closed while others are answered', async () => {
    await using both = openTwoProcesses();
    for (let i = 0; i < 20; i++) {
      expect(await both.one.report(MODEL, failing('t1'))).toMatchObject({ suspected: false });
      await both.other.report(MODEL, { id: 'x', task: 't2', end: 'ok' });
    }
  });

  it('opens by a bad probe, with pauses that double up to a bound, and closes by a good one', async () => {
    await using both = openTwoProcesses();
    await opened(both);
    const pauses: number[] = [];
    for (let i = 0; i < 5; i++) {
      let turn = await both.one.takeProbe(MODEL, `p${i}`);
      if (turn.kind === 'later') {
        pauses.push(turn.ms);
        await wait(turn.ms);
        turn = await both.one.takeProbe(MODEL, `p${i}`);
      }
      expect(turn).toEqual({ kind: 'mine' });
      await both.one.endProbe(MODEL, `p${i}`, down);
    }
    expect(
      pauses.map((ms, i) => ms <= ([40, 80, 160, 160][i] ?? 0) && ms > ([20, 40, 80, 80][i] ?? 0)),
    ).toEqual([true, true, true, true]);
    expect(await both.other.admit(MODEL, 'a')).toEqual({ kind: 'down', why: 'still 529' });
    await both.other.report(MODEL, { id: 'x', task: 't9', end: 'ok' });
    expect(await both.one.admit(MODEL, 'a')).toEqual({ kind: 'go' });
  });

  it('takes the word of a probe whose lease was lost for nothing', async () => {
    await using both = openTwoProcesses({ probeTimeoutMs: 50, slotLeaseMs: 100 });
    await opened(both);
    expect(await both.one.takeProbe(MODEL, 'killed')).toEqual({ kind: 'mine' });
    const turn = await both.other.takeProbe(MODEL, 'next');
    expect(turn.kind).toBe('later');
    if (turn.kind === 'later') await wait(turn.ms);
    expect(await both.other.takeProbe(MODEL, 'next')).toEqual({ kind: 'mine' });
    await both.one.endProbe(MODEL, 'killed', down);
    expect(await both.one.admit(MODEL, 'a')).toMatchObject({ kind: 'wait', cause: 'asking' });
  });

  it('blames a task only when somebody was answered since it began to fail', async () => {
    await using both = openTwoProcesses();
    const { at } = await both.one.report(MODEL, failing('t1'));
    expect(await both.one.verdict(MODEL, at, 'why')).toEqual({ kind: 'asking' });
    await wait(both.times.brakeMs);
    expect(await both.one.takeProbe(MODEL, 'p')).toEqual({ kind: 'mine' });
    await both.one.endProbe(MODEL, 'p', { outcome: 'answered', why: '', askedMs: 0 });
    expect(await both.other.verdict(MODEL, at, 'why')).toEqual({ kind: 'up' });
  });

  it('keeps the tasks to wake until it closes, and forgets one only if it has not parked again', async () => {
    await using both = openTwoProcesses();
    await opened(both);
    const task = { jobId: 'job_1', taskId: 't_1', attempt: 2 };
    await both.one.registerParked(MODEL, task);
    expect(await both.other.toWake(MODEL, 10)).toEqual([]);
    await both.one.report(MODEL, { id: 'x', task: 't', end: 'ok' });
    expect(await both.other.toWake(MODEL, 10)).toEqual([task]);
    await both.one.registerParked(MODEL, { ...task, attempt: 3 });
    expect(await both.other.forget(MODEL, [task])).toBe(true);
    expect(await both.other.toWake(MODEL, 10)).toEqual([{ ...task, attempt: 3 }]);
    expect(await both.other.forget(MODEL, [{ ...task, attempt: 3 }])).toBe(false);
    expect(await both.one.watched()).toEqual([]);
  });
});
