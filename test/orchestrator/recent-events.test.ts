import type { BoardEvent } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { recentEvents } from '../../packages/orchestrator/src/recent-events.ts';
import { anEvent } from '../api/records.ts';

const numbered = (from: number, to: number): BoardEvent[] =>
  Array.from({ length: to - from + 1 }, (_, i) => anEvent(from + i));
const idsOf = (events: readonly BoardEvent[] | undefined) => events?.map(({ id }) => id);

describe('the newest events of a log', () => {
  it('are answered after each place among them, the one before the first included', () => {
    const recent = recentEvents('4-0');
    expect(recent.last).toBe('4-0');
    expect(recent.after('4-0')).toEqual([]);
    recent.add(numbered(5, 7));
    expect(recent.last).toBe('7-0');
    expect(idsOf(recent.after('4-0'))).toEqual(['5-0', '6-0', '7-0']);
    expect(idsOf(recent.after('6-0'))).toEqual(['7-0']);
    expect(recent.after('7-0')).toEqual([]);
  });

  it('leave a place that is not among them to the log, before them as well as after', () => {
    const recent = recentEvents('4-0');
    recent.add(numbered(5, 7));
    expect(recent.after('3-0')).toBeUndefined();
    expect(recent.after('9-0')).toBeUndefined();
  });

  it('are 200 at most, however many come one by one or at once', () => {
    for (const step of [1, 7, 1000]) {
      const recent = recentEvents('0-0');
      for (let n = 1; n <= 1000; n += step) recent.add(numbered(n, Math.min(1000, n + step - 1)));
      expect(recent.last).toBe('1000-0');
      expect(recent.after('800-0')).toHaveLength(200);
      expect(recent.after('799-0')).toBeUndefined();
      expect(recent.after('0-0')).toBeUndefined();
    }
  });

  it('are forgotten when some can not be read, so that nobody is led past those', () => {
    const recent = recentEvents('4-0');
    recent.add(numbered(5, 7));
    recent.skipTo('9-0');
    expect(recent.last).toBe('9-0');
    expect(recent.after('7-0')).toBeUndefined();
    recent.add(numbered(10, 10));
    expect(idsOf(recent.after('9-0'))).toEqual(['10-0']);
  });
});
