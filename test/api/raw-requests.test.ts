import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { ADMIN_KEY, AS_ADMIN, openApp } from './open-app.ts';
import { JOB_ID } from './records.ts';

/** Sends a text as it stands and reads all that comes until the connection is closed. */
async function sendText(port: number, text: string) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(text);
  let answer = '';
  socket.on('data', (part) => {
    answer += part.toString();
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { head, problem: JSON.parse(body) as unknown };
}

const request = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${ADMIN_KEY}`, ...headers, '', ''].join(
    '\r\n',
  );

test.each([
  ['one long header', request('/v1/jobs', `X-Long: ${'x'.repeat(20_000)}`)],
  ['many headers', request('/v1/jobs', ...Array.from({ length: 2000 }, (_, i) => `X-Header-${i}: ${i}`))],
  ['a long cookie', request('/v1/jobs', `Cookie: crewboard_session=${'x'.repeat(20_000)}`)],
  ['a long path', request(`/v1/jobs?cursor=${'x'.repeat(20_000)}`)],
])('a flood by %s is 431 with problem+json, and the server goes on', async (_, text) => {
  await using app = await openApp();
  const { head, problem } = await sendText(app.port, text);
  expect(head).toMatch(/^HTTP\/1\.1 431 /);
  expect(head).toContain('Content-Type: application/problem+json');
  expect(head).toContain('X-Content-Type-Options: nosniff');
  expect(problem).toMatchObject({ status: 431, code: 'payload_too_large', limitBytes: 16_384 });
  expect(JSON.stringify(problem)).not.toContain(ADMIN_KEY);
  expect((await app.raw('/v1/jobs', { headers: AS_ADMIN })).status).toBe(200);
});

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a header without a colon', request('/v1/jobs', 'X')],
  ['two lengths', request('/v1/jobs', 'Content-Length: 1', 'Content-Length: 2')],
])('%s is 400 with problem+json', async (_, text) => {
  await using app = await openApp();
  const { head, problem } = await sendText(app.port, text);
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(problem).toMatchObject({ status: 400, code: 'invalid_argument' });
});

test('a body over the limit is 413 and says how much may be, by its length and without one', async () => {
  await using app = await openApp({ bodyLimitBytes: 2000 });
  const body = JSON.stringify({ goal: 'x'.repeat(3000) });
  const chunks = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(body));
      controller.close();
    },
  });
  for (const sent of [{ body }, { body: chunks, duplex: 'half' as const }]) {
    const answer = await fetch(`${app.url}/v1/jobs`, {
      method: 'POST',
      headers: { ...AS_ADMIN, 'content-type': 'application/json' },
      ...sent,
    });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: 'payload_too_large', limitBytes: 2000 });
  }
});

test('a form over its own limit is refused and logs nobody in', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/login`, {
    method: 'POST',
    body: new URLSearchParams({ key: ADMIN_KEY, next: 'x'.repeat(20_000) }),
  });
  expect(answer.status).toBe(413);
  expect(await answer.text()).toContain('That is too long for a key.');
  expect(answer.headers.get('set-cookie')).toBeNull();
});

test('every kind of answer carries the headers of security', async () => {
  await using app = await openApp();
  for (const [path, headers] of [
    ['/healthz', {}],
    ['/login', {}],
    ['/v1/jobs', {}],
    ['/v1/jobs', AS_ADMIN],
    ['/nowhere', AS_ADMIN],
    ['/v1/jobs/%zz', AS_ADMIN],
    ['/admin/queues', AS_ADMIN],
  ] as const) {
    const answer = await app.raw(path, { headers });
    expect({ path, ...answer.headers }).toMatchObject({
      path,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
  }
});

const HEADERS = ['Host: 127.0.0.1', `Authorization: Bearer ${ADMIN_KEY}`, 'Connection: close'];

const twice = (name: string, first: string, second: string) =>
  [
    `GET /v1/jobs HTTP/1.1`,
    ...HEADERS.filter((line) => !line.startsWith(name)),
    `${name}: ${first}`,
    `${name}: ${second}`,
    '',
    '',
  ].join('\r\n');

test.each([
  ['two hosts, the foreign one last', twice('Host', '127.0.0.1', 'evil.example'), 'host'],
  ['two hosts, the foreign one first', twice('Host', 'evil.example', '127.0.0.1'), 'host'],
  ['one host twice', twice('Host', '127.0.0.1', '127.0.0.1'), 'host'],
  ['two keys', twice('Authorization', `Bearer ${ADMIN_KEY}`, 'Bearer other'), 'authorization'],
  ['two kinds of body', twice('Content-Type', 'application/json', 'text/plain'), 'content-type'],
  ['no host', ['GET /healthz HTTP/1.1', 'Connection: close', '', ''].join('\r\n'), 'host'],
  [
    'no host and a path that can not be read',
    ['GET /v1/%zz HTTP/1.1', 'Connection: close', '', ''].join('\r\n'),
    'host',
  ],
  [
    'another host in the request line',
    ['GET http://evil.example/v1/jobs HTTP/1.1', ...HEADERS, '', ''].join('\r\n'),
    'host',
  ],
])('%s: 400 with problem+json, and nothing was asked', async (_, text, header) => {
  await using app = await openApp();
  const { head, problem } = await sendText(app.port, text);
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(head).toMatch(/content-type: application\/problem\+json/i);
  expect(head).toMatch(/x-content-type-options: nosniff/i);
  expect(problem).toMatchObject({
    status: 400,
    code: 'invalid_argument',
    detail: expect.stringContaining(`"${header}"`),
    next: expect.stringMatching(new RegExp(`^GET /\\S+ with one ${header} header$|^GET http`)),
  });
  expect(app.fake.calls).toEqual([]);
});

test('two hosts are refused before a preflight is answered', async () => {
  const origin = 'https://crew.example';
  await using app = await openApp({ origins: [origin] });
  const lines = ['OPTIONS /v1/jobs HTTP/1.1', 'Host: 127.0.0.1', 'Host: evil.example', `Origin: ${origin}`];
  const preflight = [...lines, 'Access-Control-Request-Method: POST', 'Connection: close', '', ''].join(
    '\r\n',
  );
  const { head } = await sendText(app.port, preflight);
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(head).not.toMatch(/access-control-allow-methods/i);
});

test('an expectation that nobody knows is 417 with problem+json, and the connection ends', async () => {
  await using app = await openApp();
  const { head, problem } = await sendText(app.port, request('/v1/jobs', 'Expect: miracles'));
  expect(head).toMatch(/^HTTP\/1\.1 417 /);
  expect(head).toMatch(/content-type: application\/problem\+json/i);
  expect(head).toMatch(/connection: close/i);
  expect(problem).toMatchObject({
    status: 417,
    code: 'invalid_argument',
    next: 'GET /v1/jobs with no Expect',
  });
  expect(app.fake.calls).toEqual([]);
});

test('a body that waits for 100-continue is taken', async () => {
  await using app = await openApp();
  const headers = { ...AS_ADMIN, 'content-type': 'application/json', expect: '100-continue' };
  const path = `/v1/jobs/${JOB_ID}/cancel`;
  const sent = httpRequest({ port: app.port, path, method: 'POST', headers, agent: false });
  sent.flushHeaders();
  await once(sent, 'continue');
  sent.end(JSON.stringify({ reason: 'enough' }));
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  expect(answer?.statusCode).toBe(200);
  answer?.resume();
  expect(app.fake.calls.map(({ method }) => method)).toEqual(['cancelJob']);
});

test('HTTP/1.0 needs no host where any will do', async () => {
  await using app = await openApp({ host: '0.0.0.0' });
  const { head } = await sendText(app.port, 'GET /healthz HTTP/1.0\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
});

test('a body over the limit is refused before the client that waits for leave sends it', async () => {
  await using app = await openApp();
  const lines = [
    `POST /v1/jobs HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${ADMIN_KEY}`,
    'Content-Type: application/json',
    'Content-Length: 500000000',
    'Expect: 100-continue',
  ];
  const { head, problem } = await sendText(app.port, [...lines, '', ''].join('\r\n'));
  expect(head).toMatch(/^HTTP\/1\.1 413 /);
  expect(problem).toMatchObject({ code: 'payload_too_large' });
});

test('a client that goes while it sends is no failure of the server', async () => {
  await using app = await openApp();
  const socket = connect(app.port, '127.0.0.1');
  await once(socket, 'connect');
  const lines = ['POST /v1/jobs HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${ADMIN_KEY}`];
  const head = [...lines, 'Content-Type: application/json', 'Content-Length: 1000', '', '{"title": "half'];
  await new Promise((sent) => socket.write(head.join('\r\n'), sent));
  socket.destroy();
  await vi.waitUntil(() => app.logged().includes('the client went'), 5000);
  expect(app.logged()).not.toContain('request failed');
});
