import type { z } from 'zod';
import { CrewboardError } from './errors.ts';
import { isFields } from './is-fields.ts';
import { toldIssue } from './issue-text.ts';

/** Issues that one error tells. */
const ISSUES_TOLD = 3;

/**
 * Turns a failed zod parse of `value` into `invalid_argument` that names the first wrong path and says what is allowed.
 * `what` names the thing parsed, such as "the job"; `example` is a valid one, or fields of one.
 */
export function invalidArgument(
  what: string,
  error: z.ZodError,
  value: unknown,
  example?: unknown,
): CrewboardError {
  const issues = error.issues.slice(0, ISSUES_TOLD).map((issue) => toldIssue(issue, value));
  const more = error.issues.length > ISSUES_TOLD ? ` (and ${error.issues.length - ISSUES_TOLD} more)` : '';
  const [first] = issues;
  const valid =
    isFields(example) && isFields(first?.example)
      ? { ...example, ...first.example }
      : (first?.example ?? example);
  return new CrewboardError(
    'invalid_argument',
    `${what} is not valid: ${issues.map(({ text }) => text).join('; ')}${more}`,
    {
      ...(first === undefined || first.path === '' ? {} : { path: first.path }),
      ...(first?.allowed === undefined ? {} : { allowed: first.allowed }),
      ...(valid === undefined ? {} : { example: valid }),
    },
  );
}

/** Parses `value` by `schema`, or throws `invalid_argument` (see {@link invalidArgument}). */
export function parseOrThrow<T>(schema: z.ZodType<T>, value: unknown, what: string, example?: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw invalidArgument(what, parsed.error, value, example);
  return parsed.data;
}
