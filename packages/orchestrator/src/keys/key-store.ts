import { asUnavailable, keyspace, prepareScript, type RedisClient } from '@crewboard/board';
import { CrewboardError, ENVIRONMENT_KEY_ID, KeyProject, Role } from '@crewboard/contracts';
import { z } from 'zod';
import { CREATE, MARK_USED, REVOKE } from './key-scripts.ts';

/** A key as Redis keeps it: a digest, never the key. */
const KeyRecord = z.strictObject({
  v: z.literal(1),
  name: z.string(),
  role: Role,
  project: KeyProject,
  /** SHA-256 in hex. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** ms, by Redis' clock. */
  createdAt: z.number().int().nonnegative(),
});
export type KeyRecord = Omit<z.infer<typeof KeyRecord>, 'v'>;

const Binding = z.strictObject({ v: z.literal(1), hash: z.string(), id: z.string() });
/** What an Idempotency-Key stands for: the hash of a body, and the key that it made. */
export type KeyBinding = Omit<z.infer<typeof Binding>, 'v'>;

const CreateReply = z.tuple([z.enum(['made', 'bound', 'named', 'full'])], z.string());

/** What came of making a key. */
export type Created =
  | { kind: 'made' }
  | { kind: 'bound'; binding: KeyBinding }
  | { kind: 'named'; id: string }
  | { kind: 'full'; count: number };

/** A key of a page, with its place in the list. */
export interface ListedKey {
  id: string;
  number: number;
  record: KeyRecord;
}

const KEYS_MOST = 10_000;
const BINDING_MS = 24 * 3_600_000;
/** Uses are noted at most once in this time. */
const NOTE_MS = 60_000;
const NOTED_MOST = 20_000;

/** Names that differ by case or width alone would be taken for one another. */
const folded = (name: string) => name.normalize('NFKC').toLowerCase();

function parseRecord(id: string, text: string): KeyRecord {
  try {
    const { v: _, ...record } = KeyRecord.parse(JSON.parse(text));
    return record;
  } catch (error) {
    throw new CrewboardError(
      'unavailable',
      `the record of ${id} can't be read: a newer version of Crewboard wrote it, or it was damaged. Upgrade this process, or revoke the key.`,
      { retry: 'never' },
      { cause: error },
    );
  }
}

/** API keys in Redis, below the prefix of everything outside boards. Every call may throw `unavailable`. */
export interface KeyStore {
  /** Redis' clock, in ms. */
  now(): Promise<number>;
  /** Keeps a new key, unless its name or its Idempotency-Key is taken or there are too many. */
  create(id: string, record: KeyRecord, bound?: { key: string; hash: string }): Promise<Created>;
  /** The record of a key; undefined when there is none. */
  find(id: string): Promise<KeyRecord | undefined>;
  /** A page in the order of their making, after the place `after` (exclusive). */
  page(after: number, limit: number): Promise<ListedKey[]>;
  /** When each was last used, in ms; undefined: never. */
  lastUsed(ids: readonly string[]): Promise<(number | undefined)[]>;
  /** Takes a key away, at once and everywhere. False when there was none. */
  revoke(id: string): Promise<boolean>;
  /** Notes that a key was used, at most once a minute. */
  markUsed(id: string): Promise<void>;
}

function storeKeys(prefix: string) {
  const { global } = keyspace(prefix);
  return {
    records: global('keys'),
    order: global('keys:order'),
    names: global('keys:names'),
    used: global('keys:used'),
    binding: (key: string) => global(`keys:idempotency:${key}`),
  };
}

/** Notes uses at most once a minute: by a clock of this process first, so that most requests cost Redis nothing. */
function usesNoted(redis: RedisClient, prefix: string): KeyStore['markUsed'] {
  const keys = storeKeys(prefix);
  const mark = prepareScript(redis, MARK_USED);
  const noted = new Map<string, number>();
  return async (id) => {
    const last = noted.get(id);
    if (last !== undefined && performance.now() - last < NOTE_MS) return;
    if (noted.size >= NOTED_MOST) noted.clear();
    noted.set(id, performance.now());
    await mark([keys.records, keys.used], [id, NOTE_MS, id === ENVIRONMENT_KEY_ID ? 1 : 0]);
  };
}

/** Returns the key store of `prefix` over a connection that the caller owns. */
export function createKeyStore(redis: RedisClient, prefix: string): KeyStore {
  const keys = storeKeys(prefix);
  const create = prepareScript(redis, CREATE);
  const revoke = prepareScript(redis, REVOKE);
  const markUsed = usesNoted(redis, prefix);
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asUnavailable(error);
    }
  };
  const recordOf = async (id: string) => {
    const text = await redis.hget(keys.records, id);
    return text === null ? undefined : parseRecord(id, text);
  };
  return {
    now: () =>
      guard(async () => {
        const [seconds, microseconds] = await redis.time();
        return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
      }),
    create: (id, record, bound) =>
      guard(async () => {
        const binding = bound === undefined ? '' : JSON.stringify({ v: 1, hash: bound.hash, id });
        const [word, said = ''] = CreateReply.parse(
          await create(
            [keys.records, keys.order, keys.names, keys.binding(bound?.key ?? '')],
            [id, JSON.stringify({ v: 1, ...record }), folded(record.name), KEYS_MOST, binding, BINDING_MS],
          ),
        );
        if (word === 'made') return { kind: 'made' };
        if (word === 'named') return { kind: 'named', id: said };
        if (word === 'full') return { kind: 'full', count: Number(said) };
        const { v: _, ...held } = Binding.parse(JSON.parse(said));
        return { kind: 'bound', binding: held };
      }),
    find: (id) => guard(() => recordOf(id)),
    page: (after, limit) =>
      guard(async () => {
        const found = await redis.zrangebyscore(
          keys.order,
          `(${after}`,
          '+inf',
          'WITHSCORES',
          'LIMIT',
          0,
          limit,
        );
        const places = found.flatMap((id, i) => (i % 2 === 0 ? [{ id, number: Number(found[i + 1]) }] : []));
        if (places.length === 0) return [];
        const texts = await redis.hmget(keys.records, ...places.map(({ id }) => id));
        return places.flatMap((place, i) => {
          const text = texts[i];
          return typeof text === 'string' ? [{ ...place, record: parseRecord(place.id, text) }] : [];
        });
      }),
    lastUsed: (ids) =>
      guard(async () => {
        const times = ids.length === 0 ? [] : await redis.hmget(keys.used, ...ids);
        return times.map((time) => (typeof time === 'string' ? Number(time) : undefined));
      }),
    revoke: (id) =>
      guard(async () => {
        // One that can't be read is revoked all the same; only its name stays taken.
        const record = await recordOf(id).catch(() => undefined);
        const named = [keys.records, keys.order, keys.names, keys.used];
        return (await revoke(named, [id, record === undefined ? '' : folded(record.name)])) === 1;
      }),
    markUsed: (id) => guard(() => markUsed(id)),
  };
}
