import { createHash } from 'node:crypto';
import type { ModelRequest } from './model-call.ts';

type Prefix = Pick<ModelRequest, 'system' | 'tools'>;

/** A run makes its prefix once, and reading it through costs more than a call may. */
const known = new WeakMap<Prefix['tools'], { system: Prefix['system']; id: string }>();

/**
 * What the instructions and tools of a request are known by: the same text for the same ones, in any process. A reply
 * is journalled with it, for its provider has counted them.
 */
export function prefixIdOf({ system, tools }: Prefix): string {
  const before = known.get(tools);
  if (before?.system === system) return before.id;
  const id = createHash('sha256')
    .update(JSON.stringify([system, tools]))
    .digest('base64url')
    .slice(0, 16);
  known.set(tools, { system, id });
  return id;
}
