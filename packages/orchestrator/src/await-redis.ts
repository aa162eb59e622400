import { setTimeout as wait } from 'node:timers/promises';
import type { RedisClient } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';
import { within } from './within.ts';

/** How long a start waits for Redis. */
export interface RedisPatience {
  /** For one that takes no connection. */
  connectsWithinMs: number;
  /** For one that took the connection: it may be reading its file, or busy with others. */
  answersWithinMs: number;
}

const PATIENCE: RedisPatience = { connectsWithinMs: 5000, answersWithinMs: 30_000 };
const AGAIN_MS = 250;

/** The address of a Redis URL without its credentials. */
function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? '6379' : port}`;
}

/** Whether the connection stands, though nothing may have been answered on it. */
const isConnected = (redis: RedisClient): boolean => redis.status === 'connect' || redis.status === 'ready';

/** Whether it is what Redis itself said, such as that the password is wrong, which does not change by waiting. */
const isRefusal = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

async function untilAnswers(redis: RedisClient, patience: RedisPatience): Promise<void> {
  const begun = performance.now();
  for (;;) {
    const limitMs = isConnected(redis) ? patience.answersWithinMs : patience.connectsWithinMs;
    const leftMs = begun + limitMs - performance.now();
    if (leftMs <= 0) throw new Error(`no answer within ${limitMs} ms`);
    try {
      // Its time keeps no process alive, but the connection does, which is open or about to be opened again.
      if ((await within(redis.ping(), Math.min(leftMs, patience.connectsWithinMs))) !== 'late') return;
    } catch (error) {
      if (isRefusal(error) || !isConnected(redis)) throw error;
      await wait(AGAIN_MS);
    }
  }
}

/**
 * Waits for the first answer of a Redis. Throws `unavailable` when it takes no connection within 5 s, or takes one and
 * does not answer within 30 s, or refuses.
 */
export async function awaitRedis(redis: RedisClient, url: string, patience = PATIENCE): Promise<void> {
  try {
    await untilAnswers(redis, patience);
  } catch (error) {
    const what = isRefusal(error) ? `refuses (${error.message})` : 'does not answer';
    throw new CrewboardError(
      'unavailable',
      `The Redis of REDIS_URL at ${addressOf(url)} ${what}: start it, or correct REDIS_URL.`,
      {},
      { cause: error },
    );
  }
}
