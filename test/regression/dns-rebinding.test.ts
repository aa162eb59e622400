import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { API_KEY, AS_ADMIN, type LocalStack, openLocalStack } from '../support/local-stack.ts';

/** A submit with these headers, `Host` among them. */
async function submit(stack: LocalStack, headers: Record<string, string>): Promise<number> {
  const { hostname, port } = new URL(stack.url);
  const body = JSON.stringify({ tasks: [{ title: 'By hand', executor: 'external' }] });
  const sent = request({
    host: hostname,
    port,
    path: '/v1/jobs',
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  }).end(body);
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  answer?.resume();
  return answer?.statusCode ?? 0;
}

const FOREIGN: Record<string, string>[] = [
  { host: 'evil.example' },
  { host: 'evil.example:7420' },
  { host: 'localhost.evil.example' },
  { host: '127.0.0.1.evil.example' },
  { host: '169.254.169.254' },
  { origin: 'http://evil.example' },
  { origin: 'null' },
  { host: 'evil.example', origin: 'http://evil.example' },
];

test.each(FOREIGN)('with %j a request is 403 before anything happens, key or login', async (foreign) => {
  await using stack = await openLocalStack({ worker: false });
  const login = await fetch(`${stack.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ key: API_KEY }),
  });
  const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';');
  expect(await submit(stack, { ...AS_ADMIN, ...foreign })).toBe(403);
  expect(await submit(stack, { cookie, origin: stack.url, ...foreign })).toBe(403);
  expect((await stack.client.jobs.list()).jobs).toEqual([]);
});

test('without an Origin and with the name of this machine a key works', async () => {
  await using stack = await openLocalStack({ worker: false });
  const { port } = new URL(stack.url);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
    expect(await submit(stack, { ...AS_ADMIN, host })).toBe(202);
});

test('beyond loopback no server starts without a key', async () => {
  await expect(
    openLocalStack({ worker: false, variables: { CREWBOARD_HOST: '0.0.0.0', CREWBOARD_API_KEY: '' } }),
  ).rejects.toMatchObject({ code: 'invalid_argument' });
});
