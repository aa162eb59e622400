import { expect, test } from 'vitest';
import { fakeService } from './fake-service.ts';
import { AS_ADMIN, openApp } from './open-app.ts';

test('health and readiness need no key', async () => {
  await using app = await openApp();
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
  const ready = await fetch(`${app.url}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ ready: true, redis: 'ok', model: 'anthropic' });
});

test('is 503 while it is not ready, and alive all the same', async () => {
  const { service } = fakeService();
  const state = { ready: false, redis: 'down', model: 'none' } as const;
  await using app = await openApp({ service: { ...service, ready: async () => state } });
  const ready = await fetch(`${app.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual(state);
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
});

const redisIsDown = () => Promise.reject(new Error('redis is down'));

test('health answers a key holder also while keys cannot be looked up', async () => {
  await using app = await openApp({ keys: { byKey: redisIsDown, byId: redisIsDown } });
  expect((await fetch(`${app.url}/healthz`, { headers: AS_ADMIN })).status).toBe(200);
  const guarded = await fetch(`${app.url}/v1/jobs`, { headers: AS_ADMIN });
  expect(guarded.status).toBe(503);
  expect(await guarded.json()).toMatchObject({ code: 'unavailable' });
});
