import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

export type RedisClient = Redis | Cluster;

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');

/**
 * Prepares one script for `redis`. Each call is EVALSHA with one array of arguments (a spread of many thousand
 * overflows the stack) and falls back to EVAL when the server has lost the script (SCRIPT FLUSH, restart).
 */
export function prepareScript(redis: RedisClient, text: string) {
  const sha = sha1(text);
  return async (keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> => {
    const rest = [keys.length, ...keys, ...args];
    try {
      return await redis.call('evalsha', [sha, ...rest]);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.call('eval', [text, ...rest]);
    }
  };
}
