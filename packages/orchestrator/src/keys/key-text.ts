import { createHash } from 'node:crypto';
import { newKeyId, newSecret } from '@crewboard/contracts';

/** A key that was just made; `text` is kept nowhere. */
export interface NewKeyText {
  id: string;
  text: string;
}

/** Makes a key, `cb_<id>_<secret>`: the secret has over 130 bits, the ID says where it is looked up. */
export function newKeyText(): NewKeyText {
  const id = newKeyId();
  return { id, text: `cb_${id.slice('key_'.length)}_${newSecret()}` };
}

/** The ID that a key names; undefined for a text of another shape, which no stored key has. */
export function keyIdOf(text: string): string | undefined {
  const [, id] = /^cb_([2-9a-hjkmnp-z]{12})_[2-9A-Za-z]{24}$/.exec(text) ?? [];
  return id === undefined ? undefined : `key_${id}`;
}

/** The digest by which a key is known: all that is kept of it. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
