import { asUnavailable, type RedisClient } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';

/** Gone by itself soon after: it only shows that writes are taken. */
const MARK_MS = 1000;

/**
 * Why work can't be taken with Redis as it is now, in one line; undefined when it takes a small write to `key`. Bounded
 * by the connection's own timeout. Never rejects.
 */
export async function redisTrouble(redis: RedisClient, key: string): Promise<string | undefined> {
  try {
    await redis.set(key, '1', 'PX', MARK_MS);
    return undefined;
  } catch (error) {
    const answers = await redis.ping().then(
      () => true,
      () => false,
    );
    if (!answers) return 'redis: it does not answer';
    const known = asUnavailable(error);
    const why = known instanceof CrewboardError ? known.detail : String(error);
    return `redis: it takes no writes. ${why.split('\n', 1)[0]}`;
  }
}
