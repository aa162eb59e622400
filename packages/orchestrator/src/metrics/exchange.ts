import { prepareScript, type RedisClient } from '@crewboard/board';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { pause } from '../lease.ts';
import type { Log } from '../log.ts';
import { Family, ofInstance } from './families.ts';

/** Long enough for what a process counted last to be scraped after its end. */
const KEPT_MS = 60_000;
const PUBLISH_MS = 5000;
/** Of one process; labels are bounded, so that it takes a defect to come near. */
const BYTES_MOST = 512 * 1024;
/** Processes that are joined in one scrape. */
const INSTANCES_MOST = 200;

const keysOf = (prefix: string) => [`${prefix}:metrics:ends`, `${prefix}:metrics`];

const NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)";
/** KEYS: 1 processes by the end of what they said, 2 what they said. ARGV: 1 process, 2 JSON, 3 keptMs. */
const PUBLISH = `${NOW}
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, 100)) do
  redis.call('ZREM', KEYS[1], gone)
  redis.call('HDEL', KEYS[2], gone)
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3]), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])`;
/** KEYS: as above. ARGV: 1 the most. Returns {process, JSON, ...} of those that spoke lately, the last ones first. */
const READ = `${NOW}
local found = {}
local names = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', string.format('(%.0f', now), 'LIMIT', 0, tonumber(ARGV[1]))
for _, name in ipairs(names) do
  local said = redis.call('HGET', KEYS[2], name)
  if said then
    found[#found + 1] = name
    found[#found + 1] = said
  end
end
return found`;

const Found = z.array(z.string());

interface PublishOptions {
  redis: RedisClient;
  prefix: string;
  /** Names this process among all. */
  instance: string;
  registry: Registry;
  log: Log;
}

/**
 * Puts what this process counts below `prefix`, every few seconds until `signal` aborts and once more then, so that the
 * API can tell of processes that nobody can scrape. Resolves after that; a Redis that is away is waited for.
 */
export async function publishMetrics(
  { redis, prefix, instance, registry, log }: PublishOptions,
  signal: AbortSignal,
): Promise<void> {
  const put = prepareScript(redis, PUBLISH);
  async function publish(): Promise<void> {
    const said = JSON.stringify(await registry.getMetricsAsJSON());
    const bytes = Buffer.byteLength(said);
    if (bytes <= BYTES_MOST) await put(keysOf(prefix), [instance, said, KEPT_MS]);
    else log.warn({ bytes, most: BYTES_MOST }, 'the metrics of this process are too many to be published');
  }
  for (;;) {
    await publish().catch((error: unknown) => log.warn({ err: error }, 'metrics were not published'));
    if (signal.aborted) return;
    await pause(PUBLISH_MS, signal);
  }
}

function parsed(said: string): Family[] {
  try {
    return z.array(Family).catch([]).parse(JSON.parse(said));
  } catch {
    return [];
  }
}

/** Reads what other processes have published of late; `self` is left out, for it knows better. */
export function publishedMetrics(
  redis: RedisClient,
  prefix: string,
): (self: string) => Promise<{ families: Family[]; instances: number }> {
  const read = prepareScript(redis, READ);
  return async (self) => {
    const found = Found.parse(await read(keysOf(prefix), [INSTANCES_MOST]));
    const families: Family[] = [];
    let instances = 1;
    for (let i = 0; i + 1 < found.length; i += 2) {
      const [instance = '', said = ''] = [found[i], found[i + 1]];
      if (instance === self) continue;
      instances += 1;
      families.push(...ofInstance(instance, parsed(said)));
    }
    return { families, instances };
  };
}
