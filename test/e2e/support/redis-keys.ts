import type { TestRedis } from '../../support/redis.ts';

/** Every key of a job's board and journals, sorted. */
export async function redisKeysOf({ redis }: TestRedis, jobId: string): Promise<string[]> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `*{${jobId}}*`, 'COUNT', 1000);
    for (const key of keys) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...found].sort();
}
