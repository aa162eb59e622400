import { createHash, timingSafeEqual } from 'node:crypto';
import type { Caller } from './access.ts';

/** Looks a presented key up. Answers whom it speaks for, or `undefined` for a key that is not valid. */
export type Authenticate = (key: string) => Promise<Caller | undefined>;

export interface KnownKey extends Caller {
  key: string;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Returns an {@link Authenticate} over a fixed list of keys. Only digests are kept, and every one is compared
 * in constant time, so neither the time taken nor a memory dump gives a key away.
 */
export function authenticateByKeys(keys: readonly KnownKey[]): Authenticate {
  const known = keys.map(({ key, ...caller }) => ({ hash: digest(key), caller }));
  return async (key) => {
    const presented = digest(key);
    let found: Caller | undefined;
    for (const { hash, caller } of known) if (timingSafeEqual(hash, presented)) found = caller;
    return found;
  };
}

/**
 * Returns the key in an `Authorization` header, if any: of `Bearer <key>`, and where `acceptBasic` is set the
 * password of `Basic` too (what a browser sends after its own login prompt).
 */
export function presentedKey(authorization: string | undefined, acceptBasic: boolean): string | undefined {
  const [, scheme, credentials] = /^(\S+) +(\S+) *$/.exec(authorization ?? '') ?? [];
  if (scheme === undefined || credentials === undefined) return undefined;
  if (scheme.toLowerCase() === 'bearer') return credentials;
  if (!acceptBasic || scheme.toLowerCase() !== 'basic') return undefined;
  const userAndPassword = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = userAndPassword.indexOf(':');
  return colon === -1 ? undefined : userAndPassword.slice(colon + 1);
}
