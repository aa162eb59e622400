import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { redisTrouble } from '../../packages/orchestrator/src/redis-trouble.ts';
import { hasRedisServer, startRedisProcess } from '../support/redis-process.ts';

const here = await hasRedisServer();

describe.runIf(here)('what keeps Redis from taking work', () => {
  it('is nothing while it takes writes, then its full memory, then its silence; and the mark goes away', async () => {
    await using server = await startRedisProcess();
    const redis = new Redis(server.url, { maxRetriesPerRequest: 0, retryStrategy: () => 20 });
    redis.on('error', () => {});
    const trouble = () => redisTrouble(redis, '{trouble}:ready');
    expect(await trouble()).toBeUndefined();
    expect(await redis.pttl('{trouble}:ready')).toBeGreaterThan(0);
    await redis.config('SET', 'maxmemory', '1');
    expect(await trouble()).toMatch(/^redis: it takes no writes\. Redis is out of memory\. .*maxmemory/);
    await redis.config('SET', 'maxmemory', '0');
    expect(await trouble()).toBeUndefined();
    await server.kill();
    expect(await trouble()).toBe('redis: it does not answer');
    redis.disconnect();
  });
});
