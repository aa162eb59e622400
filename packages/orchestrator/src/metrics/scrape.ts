import { untilAborted } from '@crewboard/agent';
import type { Boards, RedisClient } from '@crewboard/board';
import type { Queue } from 'bullmq';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { publishedMetrics } from './exchange.ts';
import { Family, gauge, ofInstance, renderFamilies } from './families.ts';
import { sharedState } from './shared-state.ts';

/** A Redis that does not answer by then says nothing in this scrape. */
const REDIS_WITHIN_MS = 3000;

/** Returns all metrics in the text format of Prometheus. Never rejects. */
export type Scrape = () => Promise<string>;

async function ownFamilies(registry: Registry): Promise<Family[]> {
  return z.array(Family).parse(JSON.parse(JSON.stringify(await registry.getMetricsAsJSON())));
}

/** The scrape of a process that knows of no other one. */
export function scrapeOwn(registry: Registry): Scrape {
  return async () => renderFamilies(await ownFamilies(registry));
}

interface ScrapeDependencies {
  redis: RedisClient;
  prefix: string;
  boards: Pick<Boards, 'index' | 'job' | 'readOutbox'>;
  queues: readonly Queue[];
  /** This process: its name, and what it counts. */
  instance: string;
  registry: Registry;
}

/**
 * Makes the scrape of a whole installation: this process, what every other one has published, and what stands in Redis.
 * While Redis is away it tells what this process knows, and `crewboard_redis_up 0`.
 */
export function createScrape(dependencies: ScrapeDependencies): Scrape {
  const { redis, prefix, boards, queues, instance, registry } = dependencies;
  const now = async () => Number((await redis.time())[0]) * 1000;
  const readState = sharedState({ boards, queues, now });
  const readPublished = publishedMetrics(redis, prefix);

  async function fromRedis(): Promise<Family[]> {
    const read = Promise.all([readState(), readPublished(instance)]);
    const [state, { families, instances }] = await untilAborted(read, AbortSignal.timeout(REDIS_WITHIN_MS));
    return [
      ...state,
      gauge('instances', 'Processes in this scrape.', [{ value: instances, labels: {} }]),
      ...families,
    ];
  }

  const isUp = (value: 0 | 1) => gauge('redis_up', 'Whether Redis could be read.', [{ value, labels: {} }]);
  return async () => {
    const own = ofInstance(instance, await ownFamilies(registry));
    const shared = await fromRedis().then(
      (families) => [isUp(1), ...families],
      () => [isUp(0)],
    );
    // What this process says of a metric stands before what another version says.
    return renderFamilies([...own, ...shared]);
  };
}
