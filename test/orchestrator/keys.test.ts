import { createKeyStore, digestOf, keyIdOf } from '@crewboard/orchestrator';
import { expect, test } from 'vitest';
import { keyService } from '../../packages/orchestrator/src/keys/key-service.ts';
import { openTestRedis, type TestRedis } from '../support/redis.ts';

const OPERATOR = { project: '*', caller: 'ann' };
const BODY = { name: 'nightly build', role: 'submit', project: 'default' } as const;

function openKeys(hasEnvironmentKey = false) {
  const store = openTestRedis();
  const keys = createKeyStore(store.redis, store.prefix);
  return {
    store,
    keys,
    service: keyService({ store: keys, hasEnvironmentKey }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** All that Redis has below the prefix. */
async function dump({ redis, prefix }: TestRedis): Promise<string> {
  const names = await redis.keys(`*${prefix.slice(1, -1)}*`);
  const read = async (name: string) => {
    const type = await redis.type(name);
    if (type === 'hash') return redis.hgetall(name);
    return type === 'zset' ? redis.zrange(name, 0, '-1') : redis.get(name);
  };
  return JSON.stringify(await Promise.all(names.map(async (name) => [name, await read(name)])));
}

test('a new key is shown once and kept as a digest', async () => {
  await using open = openKeys();
  const { key = '', ...made } = await open.service.createKey(OPERATOR, BODY, 'first');
  expect(key).toMatch(/^cb_[2-9a-hjkmnp-z]{12}_[2-9A-Za-z]{24}$/);
  expect(made).toMatchObject({ id: keyIdOf(key), ...BODY });
  const { keys } = await open.service.listKeys(OPERATOR, {});
  expect(keys).toEqual([made]);
  expect((await open.keys.find(made.id))?.hash).toBe(digestOf(key).toString('hex'));
  const kept = await dump(open.store);
  expect(kept).toContain(made.id);
  expect(kept).not.toContain(key);
  expect(kept).not.toContain(key.split('_')[2]);
});

test('no two keys are alike, and every secret has over 128 bits', async () => {
  await using open = openKeys();
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, i) => open.service.createKey(OPERATOR, { ...BODY, name: `key ${i}` })),
  );
  expect(new Set(made.map(({ key }) => key)).size).toBe(50);
  const letters = new Set(made.flatMap(({ key = '' }) => [...(key.split('_')[2] ?? '')]));
  expect(24 * Math.log2(letters.size)).toBeGreaterThan(128);
});

test('a repeat under the same Idempotency-Key answers the same record without the key', async () => {
  await using open = openKeys();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => open.service.createKey(OPERATOR, BODY, 'once')),
  );
  const first = answers.filter(({ key }) => key !== undefined);
  expect(first).toHaveLength(1);
  const { key: _, ...record } = first[0] ?? {};
  for (const answer of answers.filter(({ key }) => key === undefined))
    expect(answer).toEqual({ ...record, already: true });
  await expect(open.service.createKey(OPERATOR, { ...BODY, role: 'admin' }, 'once')).rejects.toMatchObject({
    code: 'idempotency_mismatch',
  });
  expect((await open.service.listKeys(OPERATOR, {})).keys).toHaveLength(1);
});

test('a repeat whose key was revoked makes no other one', async () => {
  await using open = openKeys();
  const { id } = await open.service.createKey(OPERATOR, BODY, 'once');
  await open.service.revokeKey(OPERATOR, id);
  await expect(open.service.createKey(OPERATOR, BODY, 'once')).rejects.toMatchObject({ code: 'terminal' });
  expect((await open.service.listKeys(OPERATOR, {})).keys).toEqual([]);
});

test('names are unique among live keys, whatever their case, and the name of the first admin is taken', async () => {
  await using open = openKeys();
  const { id } = await open.service.createKey(OPERATOR, BODY);
  for (const name of ['nightly build', 'Nightly Build', 'ｎightly build', 'admin', 'ADMIN'])
    await expect(open.service.createKey(OPERATOR, { ...BODY, name })).rejects.toMatchObject({
      code: 'duplicate_key',
    });
  await open.service.revokeKey(OPERATOR, id);
  expect((await open.service.createKey(OPERATOR, BODY)).id).not.toBe(id);
});

test('a revoked key is gone at once, with what is noted of it', async () => {
  await using open = openKeys();
  const { id } = await open.service.createKey(OPERATOR, BODY);
  await open.keys.markUsed(id);
  await open.service.revokeKey(OPERATOR, id);
  expect(await open.keys.find(id)).toBeUndefined();
  expect(await open.keys.lastUsed([id])).toEqual([undefined]);
  expect(await dump(open.store)).not.toContain(id);
  await expect(open.service.revokeKey(OPERATOR, id)).rejects.toMatchObject({ code: 'not_found' });
});

test('the key of the environment is listed first and can not be revoked', async () => {
  await using open = openKeys(true);
  await open.service.createKey(OPERATOR, BODY);
  const { keys } = await open.service.listKeys(OPERATOR, {});
  expect(keys.map(({ id }) => id)).toEqual(['env', keys[1]?.id]);
  expect(keys[0]).toEqual({ id: 'env', name: 'admin', role: 'admin', project: '*' });
  await expect(open.service.revokeKey(OPERATOR, 'env')).rejects.toMatchObject({ code: 'forbidden' });
});

test.each([true, false])(
  'pages hold every key once, in the order of their making (environment: %s)',
  async (env) => {
    await using open = openKeys(env);
    const made: string[] = env ? ['env'] : [];
    for (let i = 0; i < 7; i++) {
      made.push((await open.service.createKey(OPERATOR, { ...BODY, name: `key ${i}` })).id);
    }
    for (const limit of [1, 2, 3, 100]) {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await open.service.listKeys(OPERATOR, { limit, cursor });
        expect(page.keys.length).toBeLessThanOrEqual(limit);
        found.push(...page.keys.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(found).toEqual(made);
    }
    await expect(open.service.listKeys(OPERATOR, { cursor: 't3' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  },
);

test('a use is noted at most once a minute, by the clock of Redis', async () => {
  await using open = openKeys();
  const { id } = await open.service.createKey(OPERATOR, BODY);
  await open.keys.markUsed(id);
  const [first] = await open.keys.lastUsed([id]);
  expect(Math.abs((first ?? 0) - (await open.keys.now()))).toBeLessThan(10_000);
  // Another process, which knows nothing of the first note.
  const other = createKeyStore(open.store.redis, open.store.prefix);
  await other.markUsed(id);
  expect(await open.keys.lastUsed([id])).toEqual([first]);
  const used = `${open.store.prefix}:keys:used`;
  await open.store.redis.hset(used, id, String((first ?? 0) - 61_000));
  await createKeyStore(open.store.redis, open.store.prefix).markUsed(id);
  expect((await open.keys.lastUsed([id]))[0]).toBeGreaterThanOrEqual(first ?? 0);
  const { keys } = await open.service.listKeys(OPERATOR, {});
  expect(keys[0]?.lastUsedAt).toMatch(/Z$/);
});

test('a use of a key that is not there leaves nothing behind', async () => {
  await using open = openKeys();
  await open.keys.markUsed('key_zzzzzzzzzzzz');
  expect(await dump(open.store)).not.toContain('key_zzzzzzzzzzzz');
});

test.each([
  ['of a newer version', JSON.stringify({ v: 2, name: 'x' })],
  ['cut off', '{"v":1,"na'],
  ['with another role', JSON.stringify({ v: 1, ...BODY, role: 'root', hash: 'a'.repeat(64), createdAt: 1 })],
])('a record %s opens nothing, says so, and can be revoked', async (_, text) => {
  await using open = openKeys();
  const { id } = await open.service.createKey(OPERATOR, BODY);
  await open.store.redis.hset(`${open.store.prefix}:keys`, id, text);
  await expect(open.keys.find(id)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(open.service.listKeys(OPERATOR, {})).rejects.toMatchObject({
    code: 'unavailable',
    detail: expect.stringContaining(id),
  });
  await open.service.revokeKey(OPERATOR, id);
  expect((await open.service.listKeys(OPERATOR, {})).keys).toEqual([]);
});

test('a caller of one project can neither make, nor list, nor revoke keys', async () => {
  await using open = openKeys();
  const scope = { project: 'default', caller: 'lea' };
  for (const call of [
    open.service.createKey(scope, BODY),
    open.service.listKeys(scope, {}),
    open.service.revokeKey(scope, 'key_zzzzzzzzzzzz'),
  ])
    await expect(call).rejects.toMatchObject({ code: 'forbidden' });
});
