import { describe, expect, it } from 'vitest';
import { matchesGlob } from '../../packages/orchestrator/src/matches-glob.ts';

describe('a pattern for keys', () => {
  it.each([
    ['*', '', true],
    ['*', 'anything/at:all', true],
    ['a*c', 'abbc', true],
    ['a*c', 'abbcd', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['?', '😀', true],
    ['row-*-b*', 'row-1-a-b2', true],
    ['[ab].+', 'a.+', false],
    ['[ab].+', '[ab].+', true],
    ['', 'a', false],
  ])('%j against %j is %j', (pattern, key, matches) => {
    expect(matchesGlob(pattern, key)).toBe(matches);
  });

  it('with many stars takes no time that grows with their number', () => {
    expect(matchesGlob(`${'*a'.repeat(99)}b`, 'a'.repeat(200))).toBe(false);
  });
});
