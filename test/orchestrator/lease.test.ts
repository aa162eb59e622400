import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { keepLease } from '../../packages/orchestrator/src/lease.ts';
import { ANN, boardFixtureOn, openBoardFixture } from '../support/board.ts';
import { hasRedisServer, startRedisProcess } from '../support/redis-process.ts';

const here = await hasRedisServer();
const never = new AbortController().signal;

/** Waits `ms`, and fails at once when `holds` does not. */
async function holdsFor(ms: number, holds: () => boolean): Promise<void> {
  const until = performance.now() + ms;
  await expect
    .poll(
      () => {
        expect(holds()).toBe(true);
        return performance.now();
      },
      { interval: 5 },
    )
    .toBeGreaterThan(until);
}

describe('a lease keeper', () => {
  it.runIf(here)('stops its holder while Redis hangs, and lets it go on once, not twice', async () => {
    await using server = await startRedisProcess();
    const [redis, other] = [new Redis(server.url, { maxRetriesPerRequest: null }), new Redis(server.url)];
    const board = boardFixtureOn(redis, '{lease}');
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const leaseMs = 400;
    const held = await board.claim(jobId, ids.a ?? '', 'w', leaseMs);
    const lease = keepLease(board.boards, held.hold, leaseMs);
    await other.client('PAUSE', 1000, 'ALL');
    await expect.poll(() => lease.stopped, { interval: 5 }).toBe('fenced');
    expect(lease.signal.aborted).toBe(true);
    expect(await lease.untilSafe(never)).toBe(true);
    await holdsFor(leaseMs, () => lease.stopped === undefined);
    lease.close();
    redis.disconnect();
    other.disconnect();
  });

  it('keeps a task far beyond its lease by heartbeats, and stops for good when the attempt is ended', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const leaseMs = 200;
    const held = await board.claim(jobId, ids.a ?? '', 'w', leaseMs);
    const lease = keepLease(boards, held.hold, leaseMs);
    await holdsFor(leaseMs * 3, () => lease.stopped === undefined);
    await boards.sweep(jobId, { intervalMs: 0, leaseMs: 1_000_000, strikes: 3, staleMs: 60_000 });
    expect((await boards.task(jobId, ids.a ?? '')).status).toBe('in_progress');
    await boards.release(held.hold, 'r', 'enough');
    await expect.poll(() => lease.stopped, { interval: 5 }).toBe('lost');
    expect(await lease.untilSafe(never)).toBe(false);
    lease.close();
  });

  it('learns of a pause and its end by heartbeats, and of a pause sooner when it is told', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const leaseMs = 400;
    const { hold } = await board.claim(jobId, ids.a ?? '', 'w', leaseMs);
    const lease = keepLease(boards, hold, leaseMs);
    expect(lease.paused).toBe(false);
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    await expect.poll(() => lease.paused, { interval: 5 }).toBe(true);
    await boards.resumeJob(jobId, ANN);
    await expect.poll(() => lease.paused, { interval: 5 }).toBe(false);
    lease.pause();
    expect(lease.paused).toBe(true);
    // What is not true after all is taken back by the next heartbeat.
    await expect.poll(() => lease.paused, { interval: 5 }).toBe(false);
    expect(lease.stopped).toBeUndefined();
    lease.close();
  });
});
