import { expect, test } from 'vitest';
import { ADMIN_KEY, AS_ADMIN, bearer, openApp, PROJECT_ADMIN_KEY, READ_KEY, SUBMIT_KEY } from './open-app.ts';
import { JOB_ID } from './records.ts';

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

const GUARDED = [
  '/',
  '/nowhere',
  '/v1/jobs',
  '/v1/jobs/',
  '//v1/jobs',
  '/v1//jobs',
  '/v1/%6aobs',
  '/v1/jobs/%zz',
  `/v1/jobs/${'x'.repeat(200)}`,
  `/v1/jobs/${JOB_ID}/events`,
  '/healthz/',
  '/healthz/../v1/jobs',
  '//healthz',
  '/healthz%2f',
  '/admin',
  '/admin/queues',
  '/admin/queues/',
  '/admin/queues//',
  '//admin/queues',
  '/admin//queues',
  '/admin/./queues',
  '/admin/%2e/queues',
  '/admin/queues/%2e%2e/queues',
  '/%61dmin/queues',
  '/Admin/queues',
  '/admin/queues/api/queues',
  '/admin/queues/api/queues/',
  '/admin/queues/api/queues?activeQueue=x',
  '/admin/queues/static/js/main.js',
  '/admin/queues/static/%2e%2e/index.ejs',
  'http://127.0.0.1/v1/jobs',
  '*',
];

test.each(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND'])(
  '%s without a key or with a wrong one is refused alike on every spelling of every path',
  async (method) => {
    await using app = await openApp();
    const withoutKey: Record<string, string>[] = [
      {},
      bearer('wrong-key-0123456789'),
      { origin: 'http://evil.example' },
    ];
    const attempts = GUARDED.flatMap((path) => withoutKey.map((headers) => ({ path, headers })));
    for (const { path, headers } of attempts) {
      const answer = await app.raw(path, { method, headers });
      // A browser that asks for a page of another site has no key: that it is of another site is what it is told.
      const status = method === 'OPTIONS' && 'origin' in headers ? 403 : 401;
      expect({ path, headers, status: answer.status }).toEqual({ path, headers, status });
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
      expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    }
    expect(app.fake.calls).toEqual([]);
  },
);

test.each([
  [undefined],
  [''],
  ['Bearer'],
  ['Bearer '],
  [ADMIN_KEY],
  [`Token ${ADMIN_KEY}`],
  [`Bearer ${ADMIN_KEY}x`],
  [`Bearer ${ADMIN_KEY.slice(0, -1)}`],
  [`Bearer ${ADMIN_KEY} ${ADMIN_KEY}`],
  ['Basic !!!'],
])('the Authorization %j is 401 with problem+json', async (authorization) => {
  await using app = await openApp();
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  for (const path of ['/v1/jobs', '/admin/queues/api/queues']) {
    const answer = await app.raw(path, { headers });
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'unauthorized', retry: 'after_fix' });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="Crewboard"');
  }
});

test('a key in the query opens nothing', async () => {
  await using app = await openApp();
  expect((await app.raw(`/v1/jobs?key=${ADMIN_KEY}&access_token=${ADMIN_KEY}`)).status).toBe(401);
});

test('a refused body is not read', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{not json',
  });
  expect(answer.status).toBe(401);
});

test('Basic opens nothing', async () => {
  await using app = await openApp();
  for (const path of ['/admin/queues', '/v1/jobs'])
    expect((await app.raw(path, { headers: basic('anyone', ADMIN_KEY) })).status).toBe(401);
});

test.each([
  [READ_KEY, 'GET', `/v1/jobs/${JOB_ID}`, 200],
  [READ_KEY, 'POST', `/v1/jobs/${JOB_ID}/cancel`, 403],
  [SUBMIT_KEY, 'GET', `/v1/jobs/${JOB_ID}`, 200],
  [SUBMIT_KEY, 'POST', `/v1/jobs/${JOB_ID}/cancel`, 200],
  [SUBMIT_KEY, 'GET', '/admin/queues', 403],
  [PROJECT_ADMIN_KEY, 'GET', '/admin/queues', 403],
  [PROJECT_ADMIN_KEY, 'GET', '/admin/queues/api/queues', 403],
  [ADMIN_KEY, 'GET', '/admin/queues/api/queues', 200],
])('with the key %s, %s %s is %i', async (key, method, path, status) => {
  await using app = await openApp();
  const answer = await app.raw(path, { method, headers: bearer(key) });
  expect(answer.status).toBe(status);
  if (status === 403) expect(JSON.parse(answer.text)).toMatchObject({ code: 'forbidden' });
});

test.each([
  ['a foreign Host', { host: 'evil.example' }],
  ['a Host that begins like ours', { host: 'localhost.evil.example' }],
  ['a Host with a user', { host: 'localhost@evil.example' }],
  ['an address of the network', { host: '192.168.1.7' }],
  ['a foreign Origin', { origin: 'http://evil.example' }],
  ['the Origin null', { origin: 'null' }],
  ['another port of this machine', { origin: 'http://localhost:1' }],
  ['an Origin that is no URL', { origin: 'localhost' }],
])('%s is forbidden before anything runs', async (_, headers) => {
  await using app = await openApp();
  for (const path of [`/v1/jobs/${JOB_ID}`, '/admin/queues', '/healthz', '/nowhere']) {
    const answer = await app.raw(path, { headers: { ...AS_ADMIN, ...headers } });
    expect({ path, status: answer.status }).toEqual({ path, status: 403 });
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'forbidden' });
  }
});

test('every name of this machine is good as Host and Origin', async () => {
  await using app = await openApp();
  for (const name of ['localhost', '127.0.0.1', '[::1]']) {
    const host = `${name}:${app.port}`;
    const good: Record<string, string>[] = [{ host }, { host, origin: `http://${host}` }, { host: name }];
    for (const headers of good) {
      expect((await app.raw('/v1/jobs', { headers: { ...AS_ADMIN, ...headers } })).status).toBe(200);
    }
  }
});

test('beyond loopback any Host is good, a foreign Origin still is not', async () => {
  await using app = await openApp({ host: '0.0.0.0' });
  const host = 'crew.example';
  const good = await app.raw('/v1/jobs', { headers: { ...AS_ADMIN, host, origin: 'https://crew.example' } });
  expect(good.status).toBe(200);
  const bad = await app.raw('/v1/jobs', { headers: { ...AS_ADMIN, host, origin: 'https://evil.example' } });
  expect(bad.status).toBe(403);
});

test('logs hold no key, body or query', async () => {
  await using app = await openApp();
  const sent = await fetch(`${app.url}/v1/jobs?pasted=${ADMIN_KEY}`, {
    method: 'POST',
    headers: { ...AS_ADMIN, 'content-type': 'application/json', 'idempotency-key': 'k' },
    body: JSON.stringify({ goal: 'canary-in-the-body', metadata: { key: READ_KEY } }),
  });
  expect(sent.status).toBe(400);
  await fetch(`${app.url}/v1/jobs`, { headers: bearer('wrong-key-canary') });
  await app.raw('/admin/queues', { headers: basic('anyone', ADMIN_KEY) });
  await app.close();
  const logged = app.logged();
  expect(logged).toContain('"path":"/v1/jobs"');
  for (const secret of [
    ADMIN_KEY,
    READ_KEY,
    'canary',
    'pasted',
    Buffer.from(`anyone:${ADMIN_KEY}`).toString('base64'),
  ]) {
    expect(logged).not.toContain(secret);
  }
});
