import { createSessions, environmentKeys, nextPath } from '@crewboard/api';
import { expect, test } from 'vitest';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { ADMIN_KEY, type OpenApp, openApp, READ_KEY } from './open-app.ts';
import { JOB_ID } from './records.ts';

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** Sends the form as a browser does. */
function sendForm(app: Pick<OpenApp, 'url'>, fields: Record<string, string>, headers: object = {}) {
  return fetch(`${app.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...HTML, origin: app.url, ...headers },
    body: new URLSearchParams(fields),
  });
}

const cookieOf = (answer: Response) => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

async function logIn(app: Pick<OpenApp, 'url'>, key: string): Promise<string> {
  const answer = await sendForm(app, { key });
  expect(answer.status).toBe(303);
  return cookieOf(answer);
}

test.each(['/admin/queues', '/docs', '/', `/v1/jobs/${JOB_ID}`])(
  'a person without a key is shown the form at %s, and comes back there after it',
  async (path) => {
    await using app = await openApp();
    const asked = await app.raw(`${path}?a=%22b`, { headers: HTML });
    expect(asked.status).toBe(401);
    expect(asked.headers['content-type']).toMatch(/^text\/html/);
    expect(asked.headers['www-authenticate']).toBe('Bearer realm="Crewboard"');
    expect(asked.text).toContain(`<input type="hidden" name="next" value="${path}?a=%22b">`);
    const answer = await sendForm(app, { key: ADMIN_KEY, next: `${path}?a=%22b` });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(`${path}?a=%22b`);
  },
);

test('a program is told in a problem, whatever it asks for', async () => {
  await using app = await openApp();
  const asked: Record<string, string>[] = [{}, { accept: '*/*' }, { accept: 'application/json' }];
  for (const headers of asked) {
    const answer = await app.raw('/admin/queues', { headers });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  }
  const posted = await app.raw('/v1/jobs', { method: 'POST', headers: HTML });
  expect(posted.headers['content-type']).toMatch(/^application\/problem\+json/);
});

test('a wrong key is said to be unknown, in a form that keeps the place', async () => {
  await using app = await openApp();
  const answer = await sendForm(app, { key: 'wrong-key-0123456789', next: '/docs' });
  expect(answer.status).toBe(401);
  const text = await answer.text();
  expect(text).toContain('<p class="error" role="alert" id="error">This server does not know that key.</p>');
  expect(text).toContain('name="next" value="/docs"');
  expect(text).not.toContain('wrong-key');
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect((await sendForm(app, { key: '  ' })).status).toBe(400);
});

test('the form runs under a policy that lets nothing run or come from elsewhere', async () => {
  await using app = await openApp();
  const { headers, text } = await app.raw('/login');
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect(text).not.toMatch(/<script|\son\w+=|style="|(?:src|href)="/);
});

test('the cookie is for this server and http alone, and marked secure behind https', async () => {
  await using app = await openApp();
  const plain = (await sendForm(app, { key: ADMIN_KEY })).headers.get('set-cookie');
  expect(plain).toMatch(/^crewboard_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  const proxied = await sendForm(app, { key: ADMIN_KEY }, { 'x-forwarded-proto': 'https' });
  expect(proxied.headers.get('set-cookie')).toContain('; Secure');
});

test('a login is as good as its key on every route, for its role and project', async () => {
  await using app = await openApp();
  const admin = await logIn(app, ADMIN_KEY);
  const reader = await logIn(app, READ_KEY);
  const get = (path: string, cookie: string) => app.raw(path, { headers: { cookie } });
  expect((await get('/admin/queues', admin)).status).toBe(200);
  expect((await get(`/v1/jobs/${JOB_ID}`, reader)).status).toBe(200);
  const refused = await app.raw('/admin/queues', { headers: { ...HTML, cookie: reader } });
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('This key has the role &quot;read&quot;');
  expect(refused.text).toContain('<form method="post" action="/login">');
});

test.each([
  ['a page of this server', { origin: 'OWN' }, 200],
  ['a browser that says so another way', { 'sec-fetch-site': 'same-origin' }, 200],
  ['a page of another site', { origin: 'http://evil.example' }, 403],
  ['a page of another port', { origin: 'http://127.0.0.1:1' }, 403],
  ['a page of the same site', { 'sec-fetch-site': 'same-site' }, 403],
  ['a sandboxed page', { origin: 'null' }, 403],
  ['something that does not say', {}, 403],
])('with a login, a change from %s is %#: %j', async (_, headers, status) => {
  await using app = await openApp();
  const cookie = await logIn(app, ADMIN_KEY);
  const from = 'origin' in headers && headers.origin === 'OWN' ? { origin: app.url } : headers;
  const answer = await app.raw(`/v1/jobs/${JOB_ID}/cancel`, { method: 'POST', headers: { cookie, ...from } });
  expect(answer.status).toBe(status);
  expect(app.fake.calls.map(({ method }) => method)).toEqual(status === 200 ? ['cancelJob'] : []);
});

test('a listed origin may use keys, not logins', async () => {
  await using app = await openApp({ origins: ['http://127.0.0.1:1'] });
  const cookie = await logIn(app, ADMIN_KEY);
  const path = `/v1/jobs/${JOB_ID}/cancel`;
  const headers = { origin: 'http://127.0.0.1:1' };
  expect((await app.raw(path, { method: 'POST', headers: { ...headers, cookie } })).status).toBe(403);
  const key = { authorization: `Bearer ${ADMIN_KEY}` };
  expect((await app.raw(path, { method: 'POST', headers: { ...headers, ...key } })).status).toBe(200);
});

test('nobody is logged in by a page of another site', async () => {
  await using app = await openApp();
  const answer = await sendForm(app, { key: ADMIN_KEY }, { origin: 'http://evil.example' });
  expect(answer.status).toBe(403);
  expect(answer.headers.get('set-cookie')).toBeNull();
});

test('who logs out is out, also with the cookie of before', async () => {
  await using app = await openApp();
  const cookie = await logIn(app, ADMIN_KEY);
  const account = await app.raw('/login', { headers: { cookie } });
  expect(account.text).toContain('role admin, all projects');
  expect(account.text).toContain('<form method="post" action="/logout">');
  const out = await app.raw('/logout', { method: 'POST', headers: { cookie, origin: app.url } });
  expect(out).toMatchObject({ status: 303, headers: { location: '/login' } });
  expect(out.headers['set-cookie']?.[0]).toMatch(/^crewboard_session=; Max-Age=0; Path=\/; HttpOnly/);
  expect((await app.raw('/v1/jobs', { headers: { cookie } })).status).toBe(401);
});

test.each([
  undefined,
  '',
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  '\\\\evil.example',
  'javascript:alert(1)',
  'admin',
  '/ä',
  '/a\r\nSet-Cookie: x=1',
])('the place %j is no place of this server', (place) => {
  expect(nextPath(place)).toBe('/login');
});

test.each(['/', '/admin/queues', '/docs/?a=b&c=%2F%2Fevil', '/v1/jobs/x?next=//evil.example'])(
  'the place %s is kept',
  (place) => {
    expect(nextPath(place)).toBe(place);
  },
);

async function statusWith(stack: LocalStack, cookie: string): Promise<number> {
  return (await fetch(`${stack.url}/v1/jobs`, { headers: { cookie } })).status;
}

test('a login outlives a restart of the server, and ends with its key', async () => {
  await using stack = await openLocalStack({ worker: false });
  const { id, key = '' } = await stack.client.keys.create({ name: 'ann', role: 'admin', project: '*' });
  const [own, environment] = [await logIn(stack, key), await logIn(stack, 'cb_local-stack-key-0123456789')];
  await stack.restartApi();
  expect(await statusWith(stack, own)).toBe(200);
  expect(await statusWith(stack, environment)).toBe(200);
  await stack.client.keys.revoke(id);
  expect(await statusWith(stack, own)).toBe(401);
  expect(await statusWith(stack, environment)).toBe(200);
  const token = own.split('=')[1] ?? '';
  expect(await stack.dump()).not.toContain(token);
  expect(stack.logged()).not.toContain(token);
});

test('a login runs out by itself, and another key of the environment ends it', async () => {
  await using stack = await openLocalStack({ worker: false });
  const cookie = await logIn(stack, 'cb_local-stack-key-0123456789');
  const [session = ''] = (await stack.keys()).filter((name) => name.includes(':session:'));
  const leftMs = await stack.store.redis.pttl(session);
  expect(leftMs).toBeGreaterThan(11.9 * 3_600_000);
  expect(leftMs).toBeLessThanOrEqual(12 * 3_600_000);
  const token = cookie.split('=')[1] ?? '';
  const findWith = (key: string) =>
    createSessions(stack.store.redis, stack.store.prefix, environmentKeys(key)).find(token);
  expect(await findWith('cb_local-stack-key-0123456789')).toBeDefined();
  expect(await findWith('another-key-0123456789')).toBeUndefined();
  await stack.store.redis.del(session);
  expect(await statusWith(stack, cookie)).toBe(401);
});

test.each(['cross-site', 'same-site'])(
  'a form that a page of another site sends (%s) logs nobody in',
  async (site) => {
    await using app = await openApp();
    const answer = await sendForm(app, { key: ADMIN_KEY }, { 'sec-fetch-site': site });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('set-cookie')).toBeNull();
  },
);

test('a login that is no form is told what the page sends', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key: ADMIN_KEY }),
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    415,
    { code: 'unsupported_media_type', allowed: ['application/x-www-form-urlencoded'], next: 'GET /login' },
  ]);
});

test.each([
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html; charset=utf-8'],
  ['application/json, text/html;q=0.1', 'application/problem+json; charset=utf-8'],
  ['*/*', 'application/problem+json; charset=utf-8'],
])('who accepts %s is asked for a key in %s', async (accept, type) => {
  await using app = await openApp();
  const { status, headers } = await app.raw('/v1/jobs', { headers: { accept } });
  expect([status, headers['content-type']]).toEqual([401, type]);
});
