import type { z } from 'zod';
import { evidentValue } from './evident-value.ts';
import { isFields } from './is-fields.ts';
import { changedAt, type Path, partsOf, valueAt } from './json-path.ts';
import { misspeltFields } from './misspelt-fields.ts';
import { nearestName } from './near-name.ts';

type Issue = z.core.$ZodIssue;

/** Longer examples help nobody: the shape is told by a short one. In characters of JSON. */
const MENDED_MOST = 16_384;
/** One repair may uncover the next. */
const ROUNDS_MOST = 3;

/**
 * Values for the fields that keep a call from doing what its caller has not seen: they are taken, and fit nothing. So
 * one that can't be read is not guessed, and the call with it changes nothing.
 */
const FITS_NOTHING: ReadonlyMap<unknown, number> = new Map([
  ['version', 1_000_000],
  ['expectCount', 1_000_000],
]);

const guardAt = (path: Path) => (path.length === 1 ? FITS_NOTHING.get(path[0]) : undefined);

/** `given` with the names that its misspelt fields were to have. */
function respelt(schema: z.ZodType, given: unknown): unknown {
  return misspeltFields(schema, given).reduce(
    (call, { at, from, to }) =>
      changedAt(call, at, (held) => {
        if (!isFields(held)) return held;
        return Object.fromEntries(
          Object.entries(held).map(([name, value]) => [name === from ? to : name, value]),
        );
      }),
    given,
  );
}

/** What a call may go without and still mean the same: how long a lease is, and evidence, whose lack is refused. */
function leavable(path: Path): Path | undefined {
  if (path[0] === 'evidence' && typeof path[1] === 'number') return path.slice(0, 2);
  return path[0] === 'leaseMs' ? ['leaseMs'] : undefined;
}

const taken = (call: unknown, path: Path) => changedAt(call, path, () => undefined);

/** `call` without the unknown fields that stand beside the one that they were to be; undefined: they say something else. */
function withoutUnknown(call: unknown, at: Path, keys: readonly string[]): unknown {
  const held = valueAt(call, at);
  const known = isFields(held) ? Object.keys(held).filter((name) => !keys.includes(name)) : [];
  if (keys.some((key) => nearestName(key, known) === undefined)) return undefined;
  return keys.reduce((left, key) => taken(left, [...at, key]), call);
}

/** The issues of a union's option that has the kind of the value; none when no option has. */
function ofOption(issue: Extract<Issue, { code: 'invalid_union' }>): Issue[] {
  const near = issue.errors.find((option) =>
    option.some(({ path, code }) => path.length > 0 || code !== 'invalid_type'),
  );
  return (near ?? []).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** `call` without what `issue` is about; undefined where nobody can know what was meant. */
function repaired(call: unknown, issue: Issue, valid: unknown): unknown {
  const left = leavable(issue.path);
  if (left !== undefined) return taken(call, left);
  if (issue.code === 'unrecognized_keys') return withoutUnknown(call, issue.path, issue.keys);
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const issues = ofOption(issue);
    return issues.length === 0 ? undefined : repairedAll(call, issues, valid);
  }
  const held = valueAt(call, issue.path);
  const value =
    held === undefined ? valueAt(valid, issue.path) : (evidentValue(issue, held) ?? guardAt(issue.path));
  return value === undefined ? undefined : changedAt(call, issue.path, () => value);
}

function repairedAll(call: unknown, issues: readonly Issue[], valid: unknown): unknown {
  // Items of a list from its end on, so that taking one away moves no other.
  return issues.toReversed().reduce<unknown>((left, issue) => left && repaired(left, issue, valid), call);
}

/** What of a refusal helps to mend the call that it refused. */
export interface Mending {
  /** Where the call is wrong. */
  path?: string | undefined;
  /** What fits there. */
  fits?: unknown;
  /** A valid call of this kind: what is missing is taken from it. */
  valid?: unknown;
}

/**
 * Returns the call `sent` as its caller evidently meant it, valid for `schema`: misspelt names and words, texts for
 * numbers and the like are put right, what `fits` stands where the refusal says so, and what is missing comes from
 * `valid`. Nothing that was given is left out and no choice is made for the caller: where that would be needed the answer
 * is undefined, and so it is for a long call.
 */
export function mendedCall(schema: z.ZodType, sent: unknown, { path, fits, valid }: Mending): unknown {
  let call = respelt(schema, sent);
  const named = path === undefined ? undefined : partsOf(path);
  if (named !== undefined && fits !== undefined) {
    const fitting = changedAt(call, named, () => fits);
    if (schema.safeParse(fitting).success) return shortOf(fitting);
  }
  let issues = schema.safeParse(call).error?.issues ?? [];
  // The schema takes it: what is wrong with it is at the path.
  if (issues.length === 0 && call === sent) {
    const left = named && leavable(named);
    const guard = named && guardAt(named);
    call = guard === undefined ? left && taken(call, left) : changedAt(call, named ?? [], () => guard);
  }
  for (let round = 0; isFields(call) && issues.length > 0 && round < ROUNDS_MOST; round++) {
    call = repairedAll(call, issues, valid);
    issues = schema.safeParse(call).error?.issues ?? [];
  }
  return isFields(call) && issues.length === 0 && schema.safeParse(call).success ? shortOf(call) : undefined;
}

function shortOf(call: unknown): unknown {
  return JSON.stringify(call).length <= MENDED_MOST ? call : undefined;
}
