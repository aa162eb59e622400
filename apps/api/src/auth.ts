import { createHash, timingSafeEqual } from 'node:crypto';
import { CrewboardError } from '@crewboard/contracts';
import { digestOf, ENVIRONMENT_KEY, type KeyStore, keyIdOf } from '@crewboard/orchestrator';
import type { Caller } from './access.ts';

/** A valid key: whom it speaks for, and the digest that it is known by. */
export interface KnownCaller {
  caller: Caller;
  digest: Buffer;
}

/** The keys that a server takes. Both answer `undefined` for what is not valid (any more). */
export interface KeyRing {
  /** By the key itself, as it was presented. */
  byKey(key: string): Promise<KnownCaller | undefined>;
  /** By the ID of a key, such as the one that a session was opened with. */
  byId(keyId: string): Promise<KnownCaller | undefined>;
}

/** A key that is fixed while the server runs; its ID is the caller's name unless it has one. */
export interface KnownKey extends Omit<Caller, 'keyId'> {
  key: string;
  keyId?: string;
}

/**
 * Returns a {@link KeyRing} over a fixed list of keys. Only digests are kept, and every one is compared in constant
 * time, so neither the time taken nor a memory dump gives a key away.
 */
export function fixedKeys(keys: readonly KnownKey[]): KeyRing {
  const known = keys.map(({ key, keyId, ...caller }) => ({
    digest: digestOf(key),
    caller: { ...caller, keyId: keyId ?? caller.caller },
  }));
  return {
    async byKey(key) {
      const presented = digestOf(key);
      let found: KnownCaller | undefined;
      for (const one of known) if (timingSafeEqual(one.digest, presented)) found = one;
      return found;
    },
    byId: async (keyId) => known.find(({ caller }) => caller.keyId === keyId),
  };
}

/** The keys of a server's environment: one, or none. */
export function environmentKeys(key: string | undefined): KeyRing {
  if (key === undefined) return fixedKeys([]);
  const { id, name, role, project } = ENVIRONMENT_KEY;
  return fixedKeys([{ key, keyId: id, caller: name, role, project }]);
}

/** What a record of nobody's key is compared with: so an unknown ID costs what a wrong secret costs. */
const NOBODY = createHash('sha256').digest();

/** Returns a {@link KeyRing} over the keys in Redis, looked up by the ID in them. Both may throw `unavailable`. */
export function storedKeys(store: KeyStore): KeyRing {
  async function find(keyId: string): Promise<KnownCaller | undefined> {
    const record = await store.find(keyId);
    if (record === undefined) return undefined;
    const { name, role, project, hash } = record;
    return { caller: { keyId, caller: name, role, project }, digest: Buffer.from(hash, 'hex') };
  }
  return {
    async byKey(key) {
      const keyId = keyIdOf(key);
      if (keyId === undefined) return undefined;
      const found = await find(keyId);
      const isSame = timingSafeEqual(found?.digest ?? NOBODY, digestOf(key));
      return isSame ? found : undefined;
    },
    byId: find,
  };
}

/**
 * Asks one ring after the other: the first needs no Redis, so it opens the door also while that is away. `onUse` is told
 * of each use of a valid key.
 */
export function keyRings(rings: readonly KeyRing[], onUse: (keyId: string) => void = () => {}): KeyRing {
  const ask = async (look: (ring: KeyRing) => Promise<KnownCaller | undefined>) => {
    for (const ring of rings) {
      const found = await look(ring);
      if (found === undefined) continue;
      onUse(found.caller.keyId);
      return found;
    }
    return undefined;
  };
  return { byKey: (key) => ask((ring) => ring.byKey(key)), byId: (keyId) => ask((ring) => ring.byId(keyId)) };
}

/** Returns the key of an `Authorization: Bearer <key>` header, if any. */
export function presentedKey(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** The refusal of a request without a valid key. */
export function keyNeeded(): CrewboardError {
  return new CrewboardError(
    'unauthorized',
    'A valid key is needed: send "Authorization: Bearer <key>", with the value of CREWBOARD_API_KEY or a key that `crewboard keys add` made.',
  );
}
