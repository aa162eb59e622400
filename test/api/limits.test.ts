import { expect, test } from 'vitest';
import { ADMIN_KEY, AS_ADMIN, bearer, openApp, READ_KEY } from './open-app.ts';

const OPEN_HOST = { host: '0.0.0.0' };

test('a key that asks too often is told when to come back, and other keys go on', async () => {
  await using app = await openApp({ requestsPerMinute: 3 });
  const ask = (key: string) => app.raw('/v1/jobs', { headers: bearer(key) });
  for (let i = 0; i < 3; i++) expect((await ask(ADMIN_KEY)).status).toBe(200);
  const refused = await ask(ADMIN_KEY);
  expect(refused.status).toBe(429);
  expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/);
  const seconds = Number(refused.headers['retry-after']);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(JSON.parse(refused.text)).toMatchObject({
    code: 'rate_limited',
    retry: 'later',
    retryAfterMs: seconds * 1000,
    next: 'GET /v1/jobs',
  });
  expect((await ask(READ_KEY)).status).toBe(200);
});

test('what a key asks is counted wherever it asks it: refused requests, wrong paths and Bull Board too', async () => {
  await using app = await openApp({ requestsPerMinute: 3 });
  const paths = ['/nowhere', '/admin/queues', '/v1/jobs/%zz'];
  for (const path of paths) expect((await app.raw(path, { headers: AS_ADMIN })).status).not.toBe(429);
  for (const path of paths) expect((await app.raw(path, { headers: AS_ADMIN })).status).toBe(429);
});

test('health is never limited', async () => {
  await using app = await openApp({ requestsPerMinute: 1, ...OPEN_HOST });
  for (let i = 0; i < 100; i++)
    for (const path of ['/healthz', '/readyz'])
      expect((await app.raw(path, { headers: AS_ADMIN })).status).toBe(200);
});

test('beyond loopback an address that tries key after key is not heard for a while', async () => {
  await using app = await openApp(OPEN_HOST);
  const guess = (i: number) => app.raw('/v1/jobs', { headers: bearer(`wrong-key-${i}-0123456789`) });
  for (let i = 0; i < 60; i++) expect((await guess(i)).status).toBe(401);
  const refused = await guess(60);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  // Else a right guess would still be told from a wrong one.
  expect((await app.raw('/v1/jobs', { headers: AS_ADMIN })).status).toBe(429);
  const login = await fetch(`${app.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ key: ADMIN_KEY }),
  });
  expect(login.status).toBe(429);
  expect(login.headers.get('retry-after')).not.toBeNull();
  expect(await login.text()).toContain('Too many wrong keys came from this address. Try again in ');
  // Who shows no key is asked for one, and health is answered.
  expect((await app.raw('/v1/jobs')).status).toBe(401);
  expect((await app.raw('/healthz')).status).toBe(200);
});

test('wrong keys in the form count as well', async () => {
  await using app = await openApp(OPEN_HOST);
  const guess = () =>
    fetch(`${app.url}/login`, { method: 'POST', body: new URLSearchParams({ key: 'wrong-key-0123456789' }) });
  for (let i = 0; i < 60; i++) expect((await guess()).status).toBe(401);
  expect((await guess()).status).toBe(429);
});

test('behind a proxy that is trusted, addresses are those that it names', async () => {
  await using app = await openApp({ ...OPEN_HOST, proxies: ['127.0.0.1'] });
  const from = (address: string, key: string) =>
    app.raw('/v1/jobs', { headers: { ...bearer(key), 'x-forwarded-for': address } });
  for (let i = 0; i < 61; i++) await from('203.0.113.7', 'wrong-key-0123456789');
  expect((await from('203.0.113.7', ADMIN_KEY)).status).toBe(429);
  expect((await from('203.0.113.8', ADMIN_KEY)).status).toBe(200);
});

test('without a trusted proxy nobody hides behind another address', async () => {
  await using app = await openApp(OPEN_HOST);
  for (let i = 0; i < 60; i++)
    await app.raw('/v1/jobs', { headers: { ...bearer('wrong-key'), 'x-forwarded-for': `203.0.113.${i}` } });
  expect((await app.raw('/v1/jobs', { headers: bearer('wrong-key') })).status).toBe(429);
});

test('on loopback neither keys nor guesses are limited by default', async () => {
  await using app = await openApp();
  for (let i = 0; i < 100; i++) {
    expect((await app.raw('/v1/jobs', { headers: bearer('wrong-key') })).status).toBe(401);
    expect((await app.raw('/v1/jobs', { headers: AS_ADMIN })).status).toBe(200);
  }
});
