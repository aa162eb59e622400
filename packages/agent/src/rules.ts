import { shownLine } from '@crewboard/contracts';

/** What a value must be, in words that follow "must". */
export interface Rule {
  must: string;
  holds(value: unknown): boolean;
}

/** A value, where it stands, and what it must be. */
export type Check = readonly [path: string, value: unknown, rule: Rule];

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

export function wholeFrom(least: number): Rule {
  return {
    must: `be a whole number from ${least}`,
    holds: (value) => isNumber(value) && Number.isSafeInteger(value) && value >= least,
  };
}

export const NUMBER_ABOVE_0: Rule = {
  must: 'be a finite number above 0',
  holds: (value) => isNumber(value) && value > 0,
};

export const NUMBER_FROM_0: Rule = {
  must: 'be a finite number from 0',
  holds: (value) => isNumber(value) && value >= 0,
};

export const TEXT: Rule = { must: 'be a text', holds: (value) => typeof value === 'string' };

export const SOME_TEXT: Rule = {
  must: 'be a text that is not blank',
  holds: (value) => typeof value === 'string' && value.trim() !== '',
};

export const FUNCTION: Rule = { must: 'be a function', holds: (value) => typeof value === 'function' };

/** The same, or left out. */
export function optional(rule: Rule): Rule {
  return { must: rule.must, holds: (value) => value === undefined || rule.holds(value) };
}

/** What was given, in a word or two. */
function got(value: unknown): string {
  if (typeof value === 'string') return `"${shownLine(value, 60)}"`;
  if (typeof value === 'number' || value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}

/** Says which of `checks` is the first that does not hold, and what is wrong; undefined when all hold. */
export function firstBroken(checks: readonly Check[]): string | undefined {
  const broken = checks.find(([, value, rule]) => !rule.holds(value));
  if (broken === undefined) return undefined;
  const [path, value, rule] = broken;
  return `${path} must ${rule.must}, got ${got(value)}`;
}
