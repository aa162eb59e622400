import { awaitRedis } from '@crewboard/orchestrator';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { openTestRedis } from '../support/redis.ts';
import { hasRedisServer, startRedisProcess } from '../support/redis-process.ts';
import { freePort } from '../support/redis-server.ts';
import { openSilentWire } from '../support/silent-wire.ts';

const here = await hasRedisServer();
const SHORT = { connectsWithinMs: 100, answersWithinMs: 10_000 };

function connect(url: string) {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  redis.on('error', () => {});
  return Object.assign(redis, { [Symbol.dispose]: () => redis.disconnect() });
}

describe('the wait for Redis at a start', () => {
  it('is over at once when Redis answers', async () => {
    await using store = openTestRedis();
    await expect(awaitRedis(store.redis, store.url, SHORT)).resolves.toBeUndefined();
  });

  it('ends soon when nobody takes the connection, and says where that was', async () => {
    const url = `redis://:secret@127.0.0.1:${await freePort()}`;
    using redis = connect(url);
    const refusal = await awaitRedis(redis, url, SHORT).catch(String);
    expect(refusal).toContain(`at ${url.split('@')[1]} does not answer`);
    expect(refusal).not.toContain('secret');
  });

  it('ends too when the connection stands and no answer ever comes', async () => {
    await using store = openTestRedis();
    await using wire = await openSilentWire(store.url);
    wire.freeze('silence');
    using redis = connect(wire.url);
    const patience = { connectsWithinMs: 100, answersWithinMs: 300 };
    await expect(awaitRedis(redis, wire.url, patience)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.runIf(here)('outlasts a Redis that is busy', async () => {
    await using server = await startRedisProcess();
    using other = connect(server.url);
    await other.client('PAUSE', 600);
    using redis = connect(server.url);
    await expect(awaitRedis(redis, server.url, SHORT)).resolves.toBeUndefined();
  });

  it.runIf(here)('does not outlast a refusal, and says what Redis said', async () => {
    await using server = await startRedisProcess();
    using admin = connect(server.url);
    await admin.config('SET', 'requirepass', 'right');
    const url = server.url.replace('//', '//:wrong@');
    using redis = connect(url);
    const patience = { connectsWithinMs: 5000, answersWithinMs: 60_000 };
    expect(await awaitRedis(redis, url, patience).catch(String)).toMatch(
      / refuses \(WRONGPASS .*\): start it/,
    );
  });
});
