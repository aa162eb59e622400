import { fixedKeys } from '@crewboard/api';
import { createClient } from '@crewboard/client';
import { expect, test } from 'vitest';
import { openLocalStack } from '../support/local-stack.ts';
import { startTestRedis } from '../support/redis-server.ts';
import { bearer, openApp } from './open-app.ts';
import { anEvent, JOB_ID } from './records.ts';

const BODY = { name: 'nightly build', role: 'submit', project: 'default' } as const;
const TASKS = [{ title: 'By hand', executor: 'external' as const }];

test('a key works from its making to its revocation, and events name it', async () => {
  await using stack = await openLocalStack({ worker: false });
  const { id, key = '' } = await stack.client.keys.create(BODY);
  const client = createClient({ baseUrl: stack.url, apiKey: key });
  const job = await client.jobs.submit({ tasks: TASKS });
  const { events } = await client.jobs.listEvents(job.id);
  expect(events[0]?.by).toEqual({ kind: 'user', id: 'nightly build' });
  expect((await client.jobs.get(job.id)).project).toBe('default');
  await expect(client.keys.list()).rejects.toMatchObject({ code: 'forbidden' });
  const { keys } = await stack.client.keys.list();
  expect(keys.map(({ name }) => name)).toEqual(['admin', 'nightly build']);
  expect(keys[1]?.lastUsedAt).toBeDefined();
  await stack.client.keys.revoke(id);
  await expect(client.jobs.get(job.id)).rejects.toMatchObject({ code: 'unauthorized' });
  const [, secret = ''] = key.match(/_([^_]+)$/) ?? [];
  expect(await stack.dump()).not.toContain(secret);
  expect(stack.logged()).not.toContain(secret);
});

test('a new key is answered with 201, its repeat with 200 and without the key', async () => {
  await using stack = await openLocalStack({ worker: false });
  const send = (body: object) => stack.call('POST', '/v1/keys', body, { 'idempotency-key': 'k1' });
  const first = await send(BODY);
  expect(first).toMatchObject({ status: 201, json: { ...BODY, key: expect.stringMatching(/^cb_/) } });
  const again = await send(BODY);
  expect(again).toMatchObject({ status: 200, json: { ...BODY, already: true } });
  expect(again.json).not.toHaveProperty('key');
  expect(await send({ ...BODY, role: 'read' })).toMatchObject({
    status: 422,
    json: { code: 'idempotency_mismatch' },
  });
});

test.each([
  [{ ...BODY, role: 'root' }, 'role'],
  [{ ...BODY, project: 'Not A Project' }, 'project'],
  [{ ...BODY, name: '' }, 'name'],
  [{ ...BODY, name: 'a\u202eb' }, 'name'],
  [{ ...BODY, name: 'x'.repeat(65) }, 'name'],
  [{ ...BODY, name: ' padded ' }, 'name'],
  [{ ...BODY, key: 'mine' }, 'key'],
  [{ name: 'x', role: 'read' }, 'project'],
])('refuses %j, naming %s', async (body, path) => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/keys`, {
    method: 'POST',
    headers: { ...bearer('admin-key-0123456789'), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'invalid_argument', path });
  expect(app.fake.calls).toEqual([]);
});

test('texts that are nearly a key open nothing', async () => {
  await using stack = await openLocalStack({ worker: false });
  const { key = '' } = await stack.client.keys.create({ ...BODY, role: 'admin', project: '*' });
  const [, id = '', secret = ''] = key.split('_');
  const { key: other = '' } = await stack.client.keys.create({ ...BODY, name: 'other' });
  const near = [
    `cb_${id}_${other.split('_')[2]}`,
    `cb_${other.split('_')[1]}_${secret}`,
    `cb_${id}_${secret.slice(0, -1)}`,
    `cb_${id}_${secret}x`,
    `CB_${id}_${secret}`,
    `cb_${id.toUpperCase()}_${secret}`,
    `cb_zzzzzzzzzzzz_${secret}`,
    `cb_${id}`,
    secret,
    id,
  ];
  for (const text of near)
    expect((await fetch(`${stack.url}/v1/jobs`, { headers: bearer(text) })).status).toBe(401);
  expect((await fetch(`${stack.url}/v1/jobs`, { headers: bearer(key) })).status).toBe(200);
});

test('without Redis a stored key is unavailable, and the key of the environment still opens the door', async () => {
  const redis = await startTestRedis();
  await using stack = await openLocalStack({ worker: false, variables: { REDIS_URL: redis.url } });
  const { key = '' } = await stack.client.keys.create(BODY);
  await redis.stop();
  const path = `${stack.url}/v1/nowhere`;
  const stored = await fetch(path, { headers: bearer(key) });
  expect(stored.status).toBe(503);
  expect(await stored.json()).toMatchObject({ code: 'unavailable', retry: 'later' });
  expect((await stack.call('GET', '/v1/nowhere')).status).toBe(404);
  expect((await fetch(path, { headers: bearer('wrong-key-0123456789') })).status).toBe(401);
});

test('a stream that is open ends when its key is revoked, and others go on', async () => {
  let isRevoked = false;
  const known = fixedKeys([
    { key: 'key-to-be-revoked', keyId: 'k1', caller: 'gone', role: 'read', project: 'default' },
    { key: 'key-that-stays-on', keyId: 'k2', caller: 'here', role: 'read', project: 'default' },
  ]);
  const byKey = async (key: string) =>
    isRevoked && key === 'key-to-be-revoked' ? undefined : known.byKey(key);
  await using app = await openApp({ keys: { ...known, byKey }, lookMs: 20 });
  const follow = (key: string) => fetch(`${app.url}/v1/jobs/${JOB_ID}/events`, { headers: bearer(key) });
  const [revoked, kept] = await Promise.all([follow('key-to-be-revoked'), follow('key-that-stays-on')]);
  await app.fake.followersAre(2);
  isRevoked = true;
  await expect(revoked.text()).rejects.toThrow();
  await app.fake.followersAre(1);
  app.fake.append(anEvent(1, { type: 'job.succeeded', data: {} }));
  expect(await kept.text()).toContain('event: job.succeeded');
});
