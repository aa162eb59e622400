import { once } from 'node:events';
import { createServer } from 'node:net';
import { type ApiParts, createLogger, createSessions, environmentKeys, startApi } from '@crewboard/api';
import { type Environment, parseEnvironment } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { openTestRedis } from '../support/redis.ts';
import { fakeService } from './fake-service.ts';
import { ADMIN_KEY, bearer } from './open-app.ts';

const logger = createLogger('silent');

/** Parts that remember whether they were opened and closed. */
function countedParts() {
  const counts = { opened: 0, closed: 0 };
  const compose = async ({ CREWBOARD_API_KEY }: Environment): Promise<ApiParts> => {
    counts.opened += 1;
    const store = openTestRedis();
    const keys = environmentKeys(CREWBOARD_API_KEY);
    return {
      service: fakeService().service,
      queues: [],
      keys,
      sessions: createSessions(store.redis, store.prefix, keys),
      close: async () => {
        counts.closed += 1;
        await store[Symbol.asyncDispose]();
      },
    };
  };
  return { counts, compose };
}

const configOf = (variables: Record<string, string>): Environment =>
  parseEnvironment({ CREWBOARD_PORT: '0', ...variables });

test('listens, serves with the configured key, and closes what it opened', async () => {
  const { counts, compose } = countedParts();
  const api = await startApi({ config: configOf({ CREWBOARD_API_KEY: ADMIN_KEY }), compose, logger });
  expect((await fetch(`${api.url}/v1/jobs`, { headers: bearer(ADMIN_KEY) })).status).toBe(200);
  expect((await fetch(`${api.url}/v1/jobs`)).status).toBe(401);
  await api.close();
  expect(counts).toEqual({ opened: 1, closed: 1 });
  await expect(fetch(api.url)).rejects.toThrow();
});

test.each([['0.0.0.0'], ['192.168.1.7'], ['::'], ['crew.example']])(
  'refuses to start on %s without a key, before anything is opened',
  async (host) => {
    const { counts, compose } = countedParts();
    await expect(
      startApi({ config: configOf({ CREWBOARD_HOST: host }), compose, logger }),
    ).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringContaining('CREWBOARD_API_KEY'),
    });
    expect(counts.opened).toBe(0);
  },
);

test('without a key on loopback it starts, and no key opens it', async () => {
  const { compose } = countedParts();
  const api = await startApi({ config: configOf({}), compose, logger });
  for (const key of ['', 'undefined', ADMIN_KEY]) {
    expect((await fetch(`${api.url}/v1/jobs`, { headers: bearer(key) })).status).toBe(401);
  }
  expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  await api.close();
});

test('starts on 0.0.0.0 with a key', async () => {
  const { compose } = countedParts();
  const config = configOf({ CREWBOARD_HOST: '0.0.0.0', CREWBOARD_API_KEY: ADMIN_KEY });
  const api = await startApi({ config, compose, logger });
  const answer = await fetch(`http://127.0.0.1:${api.port}/v1/jobs`, { headers: bearer(ADMIN_KEY) });
  expect(answer.status).toBe(200);
  await api.close();
});

test('a port in use is unavailable with the fix, and what was opened is closed', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = holder.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const { counts, compose } = countedParts();
  const config = configOf({ CREWBOARD_PORT: String(port) });
  await expect(startApi({ config, compose, logger })).rejects.toMatchObject({
    code: 'unavailable',
    detail: expect.stringContaining('CREWBOARD_PORT'),
  });
  expect(counts).toEqual({ opened: 1, closed: 1 });
  holder.close();
});
