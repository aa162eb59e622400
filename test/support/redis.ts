import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { newSecret } from '../../packages/contracts/src/index.ts';

/** A connection to the run's Redis with a prefix of its own; disposing deletes every key below the prefix. */
export interface TestRedis extends AsyncDisposable {
  redis: Redis;
  url: string;
  /** Such as `{t_k3…}`: to be passed as the configured prefix. */
  prefix: string;
}

/** The URL of the Redis for this worker of the run. */
export function testRedisUrl(): string {
  const urls = inject('redisUrls');
  // biome-ignore lint/style/noProcessEnv: how vitest numbers its workers, from 1
  const url = urls[(Number(process.env.VITEST_POOL_ID) - 1) % urls.length];
  if (url === undefined) throw new Error('the run has no Redis for this worker');
  return url;
}

/** Opens a connection for one test. */
export function openTestRedis(): TestRedis {
  const url = testRedisUrl();
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  const name = `t_${newSecret().slice(0, 12)}`;
  return {
    redis,
    url,
    prefix: `{${name}}`,
    async [Symbol.asyncDispose]() {
      let cursor = '0';
      do {
        const [next, keys] = await redis.scan(cursor, 'MATCH', `*${name}*`, 'COUNT', 1000);
        if (keys.length > 0) await redis.unlink(...keys);
        cursor = next;
      } while (cursor !== '0');
      redis.disconnect();
    },
  };
}
