import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { CrewboardError } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { fakeService } from './fake-service.ts';
import { AS_ADMIN, openApp } from './open-app.ts';
import { JOB_ID } from './records.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

function post(url: string, body: RequestInit['body'], headers: Record<string, string> = JSON_TYPE) {
  return fetch(`${url}/v1/jobs`, {
    method: 'POST',
    headers: { ...AS_ADMIN, ...headers },
    body: body ?? null,
  });
}

/** A job whose JSON is nested `levels` deep, with `title`. */
function deepJob(levels: number, title = 'Deep'): string {
  const lists = levels - 3;
  const input = `${'['.repeat(lists)}1${']'.repeat(lists)}`;
  return `{"tasks":[{"title":${JSON.stringify(title)},"input":${input}}]}`;
}

test('a body nested 200 levels deep is taken; brackets in strings are no levels', async () => {
  await using app = await openApp();
  expect((await post(app.url, deepJob(200, '"[{\\'))).status).toBe(202);
});

test.each([
  ['half an object', '{"goal":'],
  ['a prototype key', '{"goal":"x","__proto__":{"a":1}}'],
  ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ['201 levels', deepJob(201)],
  ['a million levels', deepJob(1_000_000)],
])('a body that is not good JSON is invalid_argument: %s', async (_, body) => {
  await using app = await openApp();
  const answer = await post(app.url, body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    code: 'invalid_argument',
    detail: expect.stringContaining('JSON'),
  });
});

test.each([
  ['9007199254740993'],
  ['-9007199254740993'],
  ['123456789012345678901234567890'],
  ['1e400'],
  ['-1e309'],
])('a body with a number that would be changed is invalid_argument and names it: %s', async (number) => {
  await using app = await openApp();
  const answer = await post(app.url, `{"tasks":[{"title":"A","input":{"n":[0.5,${number}]}}]}`);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    code: 'invalid_argument',
    detail: expect.stringContaining(number),
  });
});

test('numbers that a double holds are taken, and digits in texts are no numbers', async () => {
  await using app = await openApp();
  const input =
    '[9007199254740992,1e21,0.1,-0.30000000000000004,1E+2,"\\"9007199254740993","9007199254740993"]';
  expect((await post(app.url, `{"tasks":[{"title":"A","input":${input}}]}`)).status).toBe(202);
});

test.each([['text/plain'], ['application/x-www-form-urlencoded'], ['application/xml']])(
  'a body of type %s is unsupported_media_type',
  async (type) => {
    await using app = await openApp();
    const answer = await post(app.url, '{"goal":"x"}', { 'content-type': type });
    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({
      code: 'unsupported_media_type',
      allowed: ['application/json'],
    });
  },
);

test.each(['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'zstd'])(
  'a body with Content-Encoding %s is unsupported_media_type, whatever is in it',
  async (encoding) => {
    await using app = await openApp();
    for (const body of ['{"tasks":[{"title":"A"}]}', gzipSync('{"tasks":[{"title":"A"}]}')]) {
      const answer = await post(app.url, body, { ...JSON_TYPE, 'content-encoding': encoding });
      expect(answer.status).toBe(415);
      expect(await answer.json()).toMatchObject({
        code: 'unsupported_media_type',
        allowed: ['identity'],
        next: 'POST /v1/jobs with no Content-Encoding',
      });
    }
    expect(app.fake.calls).toEqual([]);
  },
);

test('Content-Encoding identity is none', async () => {
  await using app = await openApp();
  const body = '{"tasks":[{"title":"A"}]}';
  expect((await post(app.url, body, { ...JSON_TYPE, 'content-encoding': 'Identity' })).status).toBe(202);
});

test('a body of 5 MB is payload_too_large with the limit', async () => {
  await using app = await openApp();
  const answer = await post(app.url, JSON.stringify({ goal: 'x'.repeat(5 * 1024 * 1024) }));
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({ code: 'payload_too_large', limitBytes: 4_194_304 });
});

/** Sends all of `body` before it reads anything, as simple clients do, and answers the first bytes it reads. */
async function sendThenRead(port: number, lengthHeader: string, body: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1').pause();
  socket.write(
    `POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${AS_ADMIN.authorization}\r\n` +
      `Content-Type: application/json\r\n${lengthHeader}\r\n\r\n`,
  );
  await new Promise<void>((resolve, reject) => {
    socket.write(body, (error) => (error ? reject(error) : resolve()));
  });
  const answer = once(socket, 'data');
  socket.resume();
  const [bytes]: Buffer[] = await answer;
  socket.destroy();
  return String(bytes);
}

test('a sender that reads only when it has sent all gets the refusal, not a reset', async () => {
  await using app = await openApp();
  const body = Buffer.alloc(20 * 1024 * 1024, 32);
  expect(await sendThenRead(app.port, `Content-Length: ${body.length}`, body)).toMatch(/^HTTP\/1\.1 413 /);
});

test('a body of unknown length is cut off at the limit', async () => {
  await using app = await openApp();
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 32), Buffer.from('\r\n')]);
  const body = Buffer.concat([...Array.from({ length: 20 }, () => chunk), Buffer.from('0\r\n\r\n')]);
  expect(await sendThenRead(app.port, 'Transfer-Encoding: chunked', body)).toMatch(/^HTTP\/1\.1 413 /);
});

test.each([['/nowhere'], ['/v1'], ['/v1/jobs/'], ['//v1/jobs'], [`/v1/jobs/${JOB_ID}/nothing`]])(
  'the unknown path %s is not_found',
  async (path) => {
    await using app = await openApp();
    const answer = await app.raw(path, { headers: AS_ADMIN });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'not_found' });
  },
);

test.each([
  ['DELETE', '/v1/jobs', 'POST, GET, HEAD'],
  ['PUT', `/v1/jobs/${JOB_ID}`, 'GET, HEAD, DELETE, PATCH'],
  ['OPTIONS', `/v1/jobs/${JOB_ID}`, 'GET, HEAD, DELETE, PATCH'],
  ['GET', `/v1/jobs/${JOB_ID}/cancel`, 'POST'],
  ['HEAD', `/v1/jobs/${JOB_ID}/events`, 'GET'],
  ['POST', '/healthz', 'GET, HEAD'],
  ['POST', '/readyz', 'GET, HEAD'],
  ['POST', '/metrics', 'GET, HEAD'],
  ['PUT', '/openapi.json', 'GET, HEAD'],
  ['PUT', '/docs', 'GET, HEAD'],
  ['DELETE', '/docs/swagger-ui.css', 'GET, HEAD'],
  ['PUT', '/login', 'GET, HEAD, POST'],
  ['OPTIONS', '/login', 'GET, HEAD, POST'],
  ['GET', '/logout', 'POST'],
])('%s %s is method_not_allowed, with the methods that are', async (method, path, allow) => {
  await using app = await openApp();
  const answer = await app.raw(path, { method, headers: AS_ADMIN });
  expect(answer.status).toBe(405);
  expect(answer.headers.allow?.split(', ').toSorted()).toEqual(allow.split(', ').toSorted());
  expect(answer.headers['content-type']).toContain('application/problem+json');
});

test.each([
  ['GET', `/v1/keys/key_2345abcd`, 'GET /v1/keys'],
  ['POST', `/v1/keys/key_2345abcd`, 'GET /v1/keys'],
  ['GET', `/v1/jobs/${JOB_ID}/cancel`, `GET /v1/jobs/${JOB_ID}`],
  ['PUT', `/v1/jobs/${JOB_ID}`, `GET /v1/jobs/${JOB_ID}`],
])('the wrong method %s of %s is advised nothing that changes something', async (method, path, next) => {
  await using app = await openApp();
  const { status, text } = await app.raw(path, { method, headers: AS_ADMIN });
  expect([status, JSON.parse(text).next]).toEqual([405, next]);
});

test.each(['PROPFIND', 'MKCOL', 'LOCK', 'PURGE'])('%s is a method of no path', async (method) => {
  await using app = await openApp();
  const { status, headers, text } = await app.raw('/v1/jobs', { method, headers: AS_ADMIN });
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST, PATCH, DELETE']);
  expect(JSON.parse(text)).toMatchObject({ code: 'method_not_allowed', next: 'GET /v1/jobs' });
});

test('a place in a stream that is named twice is refused as that', async () => {
  await using app = await openApp();
  const { status, text } = await app.raw(`/v1/jobs/${JOB_ID}/events?after=now&after=now`, {
    headers: AS_ADMIN,
  });
  expect([status, JSON.parse(text).detail]).toEqual([400, expect.stringContaining('after must stand once')]);
});

test('an unforeseen error is unavailable, shows no internals and is logged', async () => {
  const { service } = fakeService();
  const broken = {
    ...service,
    getJob: () => Promise.reject(new Error('ECONNREFUSED redis://:s3cret@10.0.0.7')),
  };
  await using app = await openApp({ service: broken });
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}`, { headers: AS_ADMIN });
  expect(answer.status).toBe(503);
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ code: 'unavailable', retry: 'later' });
  expect(text).not.toContain('ECONNREFUSED');
  expect(app.logged()).toContain('ECONNREFUSED');
});

test("the service's own error keeps its code and extras", async () => {
  const { service } = fakeService();
  const refusal = new CrewboardError('terminal', 'The job has ended.', { current: { status: 'failed' } });
  await using app = await openApp({ service: { ...service, cancelJob: () => Promise.reject(refusal) } });
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}/cancel`, { method: 'POST', headers: AS_ADMIN });
  expect(answer.status).toBe(409);
  expect(await answer.json()).toEqual({
    type: 'https://crewboard.dev/errors/terminal',
    title: 'terminal',
    status: 409,
    code: 'terminal',
    detail: 'The job has ended. Nothing was changed.',
    retry: 'never',
    next: `GET /v1/jobs/${JOB_ID}/result`,
    current: { status: 'failed' },
  });
});
