import { expect, test } from 'vitest';
import { AS_ADMIN, openApp } from './open-app.ts';
import { JOB_ID } from './records.ts';

const LISTED = 'https://crew.example';
const PREFLIGHT = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,idempotency-key',
};
const PATHS = ['/v1/jobs', `/v1/jobs/${JOB_ID}/events`, '/admin/queues', '/healthz', '/nowhere'];

const allowsOrigin = (headers: object) =>
  Object.entries(headers).filter(([name]) => /^access-control/.test(name));

test('without a list no answer says anything of other origins', async () => {
  await using app = await openApp();
  for (const origin of [LISTED, 'http://evil.example', 'null'])
    for (const path of PATHS) {
      const preflight = await app.raw(path, { method: 'OPTIONS', headers: { origin, ...PREFLIGHT } });
      expect(preflight.status).toBe(403);
      expect(JSON.parse(preflight.text)).toMatchObject({
        code: 'forbidden',
        detail: expect.stringContaining('CREWBOARD_CORS_ORIGINS'),
      });
      expect(preflight.headers).not.toHaveProperty('www-authenticate');
      const get = await app.raw(path, { headers: { ...AS_ADMIN, origin } });
      expect(get.status).toBe(403);
      expect([...allowsOrigin(preflight.headers), ...allowsOrigin(get.headers)]).toEqual([]);
    }
});

test('a preflight is answered without a key, for a listed origin alone', async () => {
  await using app = await openApp({ origins: [LISTED, 'http://localhost:5173'] });
  for (const path of PATHS) {
    const headers = { origin: LISTED, ...PREFLIGHT };
    const listed = await app.raw(path, { method: 'OPTIONS', headers });
    expect(listed).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': LISTED,
        'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
        'access-control-allow-headers':
          'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Range, If-Range',
        'access-control-max-age': '600',
        'x-content-type-options': 'nosniff',
      },
    });
    expect(listed.headers.vary).toContain('Origin');
    expect(listed.headers).not.toHaveProperty('access-control-allow-credentials');
    for (const origin of [
      'https://crew.example.evil',
      'http://crew.example',
      'https://crew.example:8443',
      'null',
    ]) {
      const other = await app.raw(path, { method: 'OPTIONS', headers: { ...headers, origin } });
      expect(other.status).toBe(403);
      expect(allowsOrigin(other.headers)).toEqual([]);
    }
  }
});

test('a page of a listed origin reads answers and refusals, with a key', async () => {
  await using app = await openApp({ origins: [LISTED], requestsPerMinute: 2 });
  const get = (headers: Record<string, string>) =>
    app.raw('/v1/jobs', { headers: { origin: LISTED, ...headers } });
  const answers = [await get({}), await get(AS_ADMIN), await get(AS_ADMIN), await get(AS_ADMIN)];
  expect(answers.map(({ status }) => status)).toEqual([401, 200, 200, 429]);
  for (const { headers } of answers) {
    expect(headers['access-control-allow-origin']).toBe(LISTED);
    expect(headers['access-control-expose-headers']).toContain('Retry-After');
    expect(headers.vary).toContain('Origin');
  }
});

test('a page of another origin is refused and told nothing, also with a key', async () => {
  await using app = await openApp({ origins: [LISTED] });
  const answer = await app.raw('/v1/jobs', { headers: { ...AS_ADMIN, origin: 'http://evil.example' } });
  expect(answer.status).toBe(403);
  expect(allowsOrigin(answer.headers).filter(([name]) => name === 'access-control-allow-origin')).toEqual([]);
});

test('an OPTIONS that is no preflight goes the way of every other method', async () => {
  await using app = await openApp({ origins: [LISTED] });
  expect((await app.raw('/v1/jobs', { method: 'OPTIONS' })).status).toBe(401);
  expect((await app.raw('/v1/jobs', { method: 'OPTIONS', headers: AS_ADMIN })).status).toBe(405);
  expect((await app.raw('/nowhere', { method: 'OPTIONS', headers: AS_ADMIN })).status).toBe(404);
});
