import type { z } from 'zod';
import { isFields } from './is-fields.ts';
import { misspeltFields } from './misspelt-fields.ts';

type Path = readonly PropertyKey[];

/** Longer examples help nobody: the shape is told by a short one. In characters of JSON. */
const MENDED_MOST = 16_384;

/** `tasks[0].title` as its parts. */
function partsOf(path: string): Path {
  const parts = path.match(/\[\d+\]|[^.[\]]+/g) ?? [];
  return parts.map((part) => (part.startsWith('[') ? Number(part.slice(1, -1)) : part));
}

/** `value` with what `change` makes of the place at `path`; undefined takes the place away. */
function changedAt(value: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [key, ...deeper] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => {
      const changed = index === key ? changedAt(item, deeper, change) : item;
      return changed === undefined ? [] : [changed];
    });
  }
  if (!isFields(value)) return value;
  const old = Object.entries(value).find(([name]) => name === key)?.[1];
  const changed = changedAt(old, deeper, change);
  const rest = Object.entries(value).filter(([name]) => name !== key);
  return Object.fromEntries(changed === undefined ? rest : [...rest, [String(key), changed]]);
}

/** `value` without the places at `paths`; those of one list from its end on, so that none moves another. */
function without(value: unknown, paths: readonly Path[]): unknown {
  const places = new Map(paths.map((path) => [JSON.stringify(path), path]));
  const lastFirst = [...places.values()].sort((a, b) =>
    b.join('.').localeCompare(a.join('.'), 'en', { numeric: true }),
  );
  return lastFirst.reduce<unknown>((left, path) => changedAt(left, path, () => undefined), value);
}

/** The path up to the first item of a list in it, or its first field. */
function upToItem(path: Path): Path {
  const index = path.findIndex((part) => typeof part === 'number');
  return path.slice(0, index === -1 ? 1 : index + 1);
}

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

function wrongPaths(schema: z.ZodType, given: unknown): Path[] {
  const issues = schema.safeParse(given).error?.issues ?? [];
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
}

/** What of a refusal helps to mend the call that it refused. */
export interface Mending {
  /** Where the call is wrong. */
  path?: string | undefined;
  /** What fits there. */
  fits?: unknown;
  /** A valid call of this kind, or fields of one, where those of the caller do not do. */
  valid?: unknown;
}

/**
 * Returns the call `sent` with as little changed as makes it valid for `schema`: misspelt fields get their name, wrong
 * places are left out or get what fits, and only missing fields come from `valid`. Undefined where that makes no valid
 * call, or a long one.
 */
export function mendedCall(schema: z.ZodType, sent: unknown, { path, fits, valid }: Mending): unknown {
  const given = respelt(schema, sent);
  if (!isFields(given)) return undefined;
  if (given !== sent && schema.safeParse(given).success) return shortOf(given);
  const named = path === undefined ? [] : [partsOf(path)];
  if (fits !== undefined && named[0] !== undefined) {
    const fitting = changedAt(given, named[0], () => fits);
    if (schema.safeParse(fitting).success) return shortOf(fitting);
  }
  const ofShape = wrongPaths(schema, given).filter((at) => at.length > 0);
  const wrong = [...ofShape, ...named];
  const ends = [wrong, wrong.map(upToItem), wrong.map((at) => at.slice(0, 1))];
  const left = ends.map((paths) => without(given, paths)).filter(isFields);
  const fields = new Set(ofShape.map(([field]) => String(field)));
  const theirs = Object.entries(isFields(valid) ? valid : {}).filter(([field]) => fields.has(field));
  // What of it is right goes before the fields of another call.
  const filled = left.map((call) => ({ ...Object.fromEntries(theirs), ...call }));
  const candidates = [...filled, ...left];
  return shortOf(candidates.find((candidate) => schema.safeParse(candidate).success));
}

function shortOf(call: unknown): unknown {
  return call !== undefined && JSON.stringify(call).length <= MENDED_MOST ? call : undefined;
}
