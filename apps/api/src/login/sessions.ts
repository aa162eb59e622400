import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { asUnavailable, keyspace, type RedisClient } from '@crewboard/board';
import { z } from 'zod';
import type { KeyRing, KnownCaller } from '../auth.ts';

/** How long a login lasts. */
export const SESSION_MS = 12 * 3_600_000;
const TOKEN_BYTES = 32;

const Session = z.strictObject({
  v: z.literal(1),
  keyId: z.string(),
  /** Ties the session to the key as it was then: the digest of the token and the key's digest. */
  bond: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The logins of browsers, in Redis. Every call may throw `unavailable`. */
export interface Sessions {
  /** Opens one for the holder of a valid key. Returns its token, which is kept nowhere. */
  open(known: KnownCaller): Promise<string>;
  /** Whom a token speaks for; undefined when it is unknown, has run out, or its key is another one or none by now. */
  find(token: string): Promise<KnownCaller | undefined>;
  /** Ends one. */
  end(token: string): Promise<void>;
}

/** A session as Redis has it; undefined for what is none of ours. */
function parseSession(text: string): z.infer<typeof Session> | undefined {
  try {
    return Session.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const sha256 = (...parts: (string | Buffer)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/**
 * Returns the sessions below `prefix`. Tokens are kept as digests, and what ties a session to its key can't be made, nor
 * the key be guessed by it, without the token.
 */
export function createSessions(redis: RedisClient, prefix: string, keys: KeyRing): Sessions {
  const nameOf = (token: string) => keyspace(prefix).global(`session:${sha256(token).toString('hex')}`);
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asUnavailable(error);
    }
  };
  return {
    open: ({ caller, digest }) =>
      guard(async () => {
        const token = randomBytes(TOKEN_BYTES).toString('base64url');
        const bond = sha256(token, digest).toString('hex');
        const session = JSON.stringify({ v: 1, keyId: caller.keyId, bond } satisfies z.infer<typeof Session>);
        await redis.set(nameOf(token), session, 'PX', SESSION_MS);
        return token;
      }),
    find: (token) =>
      guard(async () => {
        // Other texts are no token of ours, and need no look.
        if (!/^[\w-]{43}$/.test(token)) return undefined;
        const text = await redis.get(nameOf(token));
        const session = text === null ? undefined : parseSession(text);
        const known = session && (await keys.byId(session.keyId));
        if (session === undefined || known === undefined) return undefined;
        const isSame = timingSafeEqual(sha256(token, known.digest), Buffer.from(session.bond, 'hex'));
        return isSame ? known : undefined;
      }),
    end: (token) => guard(async () => void (await redis.del(nameOf(token)))),
  };
}
