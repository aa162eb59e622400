import { type ApiParts, createLogger, createSessions, environmentKeys, startApi } from '@crewboard/api';
import { parseEnvironment } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { expect, test } from 'vitest';
import { openTestRedis } from '../support/redis.ts';
import { type FakeService, fakeService } from './fake-service.ts';
import { ADMIN_KEY, AS_ADMIN } from './open-app.ts';
import { aJob, JOB_ID } from './records.ts';

/** A server whose reads of a job are answered by `getJob`; tells when one has begun. */
async function openServer(getJob: Service['getJob']) {
  const fake: FakeService = fakeService();
  let begun = () => {};
  const reading = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const compose = async (): Promise<ApiParts> => {
    const store = openTestRedis();
    const keys = environmentKeys(ADMIN_KEY);
    return {
      service: {
        ...fake.service,
        getJob: (...args) => {
          begun();
          return getJob(...args);
        },
      },
      queues: [],
      keys,
      sessions: createSessions(store.redis, store.prefix, keys),
      close: async () => store[Symbol.asyncDispose](),
    };
  };
  const config = parseEnvironment({ CREWBOARD_PORT: '0', CREWBOARD_API_KEY: ADMIN_KEY });
  const api = await startApi({ config, compose, logger: createLogger('silent') });
  return { api, reading, get: () => fetch(`${api.url}/v1/jobs/${JOB_ID}`, { headers: AS_ADMIN }) };
}

test('a request that is being answered when the server stops is answered to its end', async () => {
  let answer = () => {};
  const gate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { api, reading, get } = await openServer(async () => {
    await gate;
    return aJob();
  });
  const asked = get();
  await reading;
  const closed = api.close();
  answer();
  expect((await asked).status).toBe(200);
  await closed;
  await expect(fetch(`${api.url}/healthz`)).rejects.toThrow();
});

test('a request that is never answered holds the stop for no more than its grace', async () => {
  const { api, reading, get } = await openServer(() => new Promise(() => {}));
  const cut = expect(get()).rejects.toThrow();
  await reading;
  const from = performance.now();
  await api.close();
  await cut;
  expect(performance.now() - from).toBeLessThan(9000);
}, 20_000);
