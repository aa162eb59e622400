import type { RedisClient } from './eval-script.ts';

/**
 * A Redis at its `maxmemory` refuses whatever may make it larger, also the few writes without which nothing leaves it:
 * the note that a job is to be deleted, the lock of an archive, its place among those that may go. Each is some 100
 * bytes, and what follows makes far more room. Redis 7.0 and newer, and Valkey, take them from a script that says so in
 * its first line; others can not compile that, and the refusal stands. The scripts that take journals and boards out
 * need none of it: their first write removes something, and one that has begun to write is not refused.
 */
const MAY_EXCEED = '#!lua flags=allow-oom\n';
const COMMAND = 'return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))';

/** True for Redis' refusal of a write because memory is short. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.includes('OOM');
}

/**
 * Runs one command on `key` that makes room later: plainly, and when memory is short, as one that may exceed the limit.
 * Rejects with what Redis said to the plain one.
 */
export async function evenWhenFull(
  redis: RedisClient,
  name: 'HSET' | 'SET' | 'ZADD',
  key: string,
  ...args: readonly (string | number)[]
): Promise<unknown> {
  try {
    return await redis.call(name, [key, ...args]);
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    return redis.call('eval', [MAY_EXCEED + COMMAND, 1, key, name, ...args]).catch(() => {
      throw error;
    });
  }
}
