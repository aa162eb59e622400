import { z } from 'zod';
import { isFields } from './is-fields.ts';
import { nearestName } from './near-name.ts';

type Path = readonly PropertyKey[];

/** A field that a schema does not know, and the one that it was to be. */
export interface Misspelt {
  /** The object that holds it. */
  at: Path;
  from: string;
  to: string;
}

/** Unknown fields of one object that are looked at. */
const FIELDS_MOST = 20;

const isAt = (path: Path, at: Path) => path.length === at.length && at.every((part, i) => part === path[i]);

function objectAt(root: unknown, path: Path): Record<string, unknown> {
  let value = root;
  for (const part of path) {
    if (Array.isArray(value)) value = value[Number(part)];
    else value = isFields(value) ? value[String(part)] : undefined;
  }
  return isFields(value) ? value : {};
}

/** Fields that the object at `at` could have and does not: all of the whole's own, else those that are missing. */
function openFields(schema: z.ZodType, issues: readonly z.core.$ZodIssue[], at: Path): string[] {
  if (at.length === 0 && schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return issues.flatMap((issue) =>
    issue.path.length > 0 && isAt(issue.path.slice(0, -1), at) ? [String(issue.path.at(-1))] : [],
  );
}

/** The fields of `given` that `schema` does not know under this name, but under one that is near it. */
export function misspeltFields(schema: z.ZodType, given: unknown): Misspelt[] {
  const issues = schema.safeParse(given).error?.issues ?? [];
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const held = objectAt(given, issue.path);
    const open = openFields(schema, issues, issue.path).filter((name) => !Object.hasOwn(held, name));
    return issue.keys.slice(0, FIELDS_MOST).flatMap((from) => {
      const to = nearestName(from, open);
      if (to === undefined) return [];
      open.splice(open.indexOf(to), 1);
      return [{ at: issue.path, from, to }];
    });
  });
}
