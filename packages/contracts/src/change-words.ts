import type { z } from 'zod';
import { pathText } from './issue-text.ts';
import { misspeltFields } from './misspelt-fields.ts';

type Issue = z.core.$ZodIssue;

/** Changes that are named: the first are what a caller looks at. */
const NAMED_MOST = 3;

function wordsOf(issue: Issue, isMissing: (issue: Issue) => boolean): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `no ${pathText([...issue.path, key])}`);
  const path = pathText(issue.path);
  if (path === '') return [];
  return [isMissing(issue) ? path : `another ${path}`];
}

/**
 * Says what to change in the call `given` that `schema` refuses, to stand after "again, with": such as "summary in
 * place of sumary and another version". Where the schema takes it: another value at `path`. Undefined: that is not known.
 */
export function changeWords(schema: z.ZodType, given: unknown, path?: string): string | undefined {
  const parsed = schema.safeParse(given, { reportInput: true });
  if (parsed.success) return path === undefined ? undefined : `another ${path}`;
  const misspelt = misspeltFields(schema, given);
  const respelt = misspelt.map(({ at, from, to }) => ({
    instead: `${pathText([...at, to])} in place of ${pathText([...at, from])}`,
    covers: [pathText([...at, to]), `no ${pathText([...at, from])}`],
  }));
  const covered = new Set(respelt.flatMap(({ covers }) => covers));
  const others = parsed.error.issues
    .flatMap((issue) => wordsOf(issue, ({ input }) => input === undefined))
    .filter((words) => !covered.has(words));
  const named = [...new Set([...respelt.map(({ instead }) => instead), ...others])].slice(0, NAMED_MOST);
  if (named.length === 0) return undefined;
  return named.length === 1 ? named[0] : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}
