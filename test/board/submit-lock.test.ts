import { newJobId, newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { openBoardFixture } from '../support/board.ts';

/** What is left of a lock that would run out in a moment, after somebody renewed it under `renewedBy`. */
async function leftAfterRenewal(renewedBy: 'its owner' | 'somebody else'): Promise<number> {
  await using board = await openBoardFixture();
  const { index } = board.boards;
  const { redis, prefix } = board.store;
  const jobId = newJobId();
  const token = newSecret();
  expect(await index.lockSubmit(jobId, token)).toBe(true);
  expect(await index.lockSubmit(jobId, newSecret())).toBe(false);
  const [key = ''] = await redis.keys(`${prefix.replace(/[{}]/g, '?')}*submitting:${jobId}`);
  await redis.pexpire(key, 5000);
  await index.renewSubmit(jobId, renewedBy === 'its owner' ? token : newSecret());
  return redis.pttl(key);
}

describe('the lock of a submit', () => {
  it('lasts while its request renews it', async () => {
    expect(await leftAfterRenewal('its owner')).toBeGreaterThan(5000);
  });

  it('is renewed by nobody else, and runs out', async () => {
    const left = await leftAfterRenewal('somebody else');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(5000);
  });
});
