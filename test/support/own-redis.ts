import { Redis } from 'ioredis';
import type { TestRedis } from './redis.ts';
import { startTestRedis } from './redis-server.ts';

/** A redis-server of a script's own, for a stack outside the test runner; disposing it ends the server. */
export async function openOwnRedis(name: string): Promise<TestRedis> {
  const server = await startTestRedis();
  if (server.kind !== 'server') {
    await server.stop();
    throw new Error('this run needs a redis-server on PATH');
  }
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  return {
    redis,
    url: server.url,
    prefix: `{${name}}`,
    async [Symbol.asyncDispose]() {
      redis.disconnect();
      await server.stop();
    },
  };
}
