import type { Attempt } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { activeMs } from '../../packages/orchestrator/src/active-time.ts';

/** An attempt of so many minutes, an hour after the one before it. */
function attempt(number: number, minutes: number, end: Pick<Attempt, 'outcome' | 'reason'>): Attempt {
  const startedAt = Date.UTC(2026, 0, 1, number);
  return {
    attempt: number,
    owner: { kind: 'sub-agent', id: 'w' },
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(startedAt + minutes * 60_000).toISOString(),
    ...end,
  };
}

const paused = { outcome: 'parked', reason: 'the job is paused' } as const;
const stopped = { outcome: 'released', reason: 'the worker is shutting down' } as const;

describe('the time that an attempt was at work already', () => {
  it.each([
    ['is none at first', [], 0],
    [
      'is that of the attempts before it that were broken off',
      [attempt(1, 10, paused), attempt(2, 5, stopped)],
      15,
    ],
    ['begins anew after a failure', [attempt(1, 10, paused), attempt(2, 5, { outcome: 'failed' })], 0],
    ['begins anew after an answer', [attempt(1, 10, { outcome: 'blocked', reason: 'which one?' })], 0],
    [
      'begins anew with each wake of a lead',
      [attempt(1, 10, { outcome: 'parked' }), attempt(2, 3, paused)],
      3,
    ],
    [
      'leaves out the time of a worker that was lost',
      [attempt(1, 10, { outcome: 'expired', reason: 'lost' })],
      0,
    ],
  ])('%s', (_, earlier, minutes) => {
    expect(activeMs(earlier)).toBe(minutes * 60_000);
  });
});
