import type { z } from 'zod';
import { nearestName } from './near-name.ts';

type Issue = z.core.$ZodIssue;

const YES: readonly unknown[] = ['yes', 'true', 'on', '1', 1];
const NO: readonly unknown[] = ['no', 'false', 'off', '0', 0];

const lower = (value: unknown) => (typeof value === 'string' ? value.trim().toLowerCase() : value);

function ofType(expected: string, held: unknown): unknown {
  switch (expected) {
    case 'boolean':
      if (YES.includes(lower(held))) return true;
      return NO.includes(lower(held)) ? false : undefined;
    case 'number':
    case 'int': {
      const number = typeof held === 'string' && held.trim() !== '' ? Number(held) : Number.NaN;
      return Number.isFinite(number) ? number : undefined;
    }
    case 'string':
      return typeof held === 'number' || typeof held === 'boolean' ? String(held) : undefined;
    case 'array':
      return typeof held === 'string' ? [held] : undefined;
    default:
      return undefined;
  }
}

/**
 * What a caller evidently meant by the value `held` that `issue` is about: a text for a number, "yes" for true, a
 * misspelt word. Undefined where that would be a guess.
 */
export function evidentValue(issue: Issue, held: unknown): unknown {
  if (issue.code === 'invalid_type') return ofType(issue.expected, held);
  if (issue.code !== 'invalid_value' || typeof held !== 'string') return undefined;
  const words = issue.values.filter((word) => typeof word === 'string');
  return nearestName(held, words);
}
