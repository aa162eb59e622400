import type { RedisClient } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';

const ANSWER_WITHIN_MS = 5000;

/** The address of a Redis URL without its credentials. */
function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? '6379' : port}`;
}

/** Waits for the first answer of a Redis. Throws `unavailable` when there is none within 5 s. */
export async function awaitRedis(redis: RedisClient, url: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), ANSWER_WITHIN_MS);
  });
  try {
    await Promise.race([redis.ping(), late]);
  } catch (error) {
    throw new CrewboardError(
      'unavailable',
      `The Redis of REDIS_URL at ${addressOf(url)} does not answer: start it, or correct REDIS_URL.`,
      {},
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
}
