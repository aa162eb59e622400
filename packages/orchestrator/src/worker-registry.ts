import type { RedisClient } from '@crewboard/board';
import { pause } from './lease.ts';
import type { Log } from './log.ts';
import type { Provider } from './settings.ts';

/** A worker that was not heard of for so long counts as gone; by the clock of Redis. */
const LEASE_MS = 15_000;
const BEAT_MS = LEASE_MS / 3;

const keyOf = (prefix: string, provider: Provider) => `${prefix}:workers:${provider}`;

const NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)";
/** KEYS: 1 workers by the end of their leases. ARGV: 1 worker, 2 leaseMs. Forgets those that are gone. */
const BEAT = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const COUNT = `${NOW}
return redis.call('ZCOUNT', KEYS[1], string.format('(%.0f', now), '+inf')`;

/**
 * Says that this worker takes tasks of `providers`, until `signal` aborts; then takes its name away again. Resolves
 * after that. A Redis that is away is waited for.
 */
export async function announceWorker(
  redis: RedisClient,
  prefix: string,
  worker: { id: string; providers: readonly Provider[]; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { id, providers, log } = worker;
  const keys = providers.map((provider) => keyOf(prefix, provider));
  while (!signal.aborted) {
    await Promise.all(keys.map((key) => redis.eval(BEAT, 1, key, id, LEASE_MS))).catch((error: unknown) =>
      log.warn({ err: error }, 'this worker could not be announced'),
    );
    await pause(BEAT_MS, signal);
  }
  await Promise.all(keys.map((key) => redis.zrem(key, id))).catch(() => {});
}

/** True while some worker takes the tasks of `provider`. */
export type IsServed = (provider: Provider) => Promise<boolean>;

/** Reads what workers have announced below `prefix`. */
export function servedProviders(redis: RedisClient, prefix: string): IsServed {
  return async (provider) => Number(await redis.eval(COUNT, 1, keyOf(prefix, provider))) > 0;
}
