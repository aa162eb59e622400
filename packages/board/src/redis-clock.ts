import type { BoardIo } from './board-io.ts';

/** Redis' clock, which all processes share, in ms since the epoch. */
export async function redisNow({ redis, guard }: Pick<BoardIo, 'redis' | 'guard'>): Promise<number> {
  const [seconds, microseconds] = await guard(() => redis.time());
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
