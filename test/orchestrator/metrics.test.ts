import { openBoards } from '@crewboard/board';
import { createProcessMetrics, createScrape, type NO_METRICS, publishMetrics } from '@crewboard/orchestrator';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseExposition } from '../support/exposition.ts';
import { openTestRedis, type TestRedis } from '../support/redis.ts';
import { freePort } from '../support/redis-server.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

let store: TestRedis;
beforeEach(() => {
  store = openTestRedis();
});
afterEach(() => store[Symbol.asyncDispose]());

function scrapeOf({ redis, prefix }: Pick<TestRedis, 'redis' | 'prefix'>) {
  const process = createProcessMetrics();
  const boards = openBoards(redis, prefix);
  const scrape = createScrape({
    redis,
    prefix,
    boards,
    queues: [],
    instance: 'api-here',
    registry: process.registry,
  });
  return { ...process, scrape: async () => parseExposition(await scrape()) };
}

/** Publishes once, as a process does that ends at once. */
async function publishAs(instance: string, tell: (metrics: typeof NO_METRICS) => void): Promise<void> {
  const { metrics, registry } = createProcessMetrics();
  tell(metrics);
  const { redis, prefix } = store;
  await publishMetrics({ redis, prefix, instance, registry, log: silent }, AbortSignal.abort());
}

describe('a scrape', () => {
  test('joins what all processes count, each as an instance of its own', async () => {
    await publishAs('worker-1', (metrics) => metrics.jobEnded('succeeded', 0));
    await publishAs('worker-2', (metrics) => metrics.jobEnded('succeeded', 0));
    await publishAs('worker-2', (metrics) => metrics.jobEnded('failed', 0.5));
    const { scrape, metrics } = scrapeOf(store);
    metrics.jobEnded('failed', 0.25);
    const { sum } = await scrape();
    expect(sum('crewboard_jobs_ended_total', { instance: 'worker-1', status: 'succeeded' })).toBe(1);
    // What a process says replaces what it said before.
    expect(sum('crewboard_jobs_ended_total', { instance: 'worker-2' })).toBe(1);
    expect(sum('crewboard_jobs_ended_total', { instance: 'api-here' })).toBe(1);
    expect(sum('crewboard_wasted_usd_total')).toBe(0.75);
    expect(sum('crewboard_instances')).toBe(3);
  });

  test('leaves out what is no metrics, of another version, or said long ago', async () => {
    await publishAs('worker-1', (metrics) => metrics.taskRequeued());
    const { redis, prefix } = store;
    const odd = [
      { name: 'crewboard_tasks_requeued_total', help: 'h', type: 'gauge', values: [{ value: 9 }] },
    ];
    const bad = [{ name: 'x y', help: 'h', type: 'counter', values: [{ value: 1, labels: { 'a"b': 'c' } }] }];
    for (const [name, said] of [
      ['worker-2', '{"half":'],
      ['worker-3', JSON.stringify(bad)],
      ['worker-4', JSON.stringify(odd)],
    ] as const) {
      await redis.hset(`${prefix}:metrics`, name, said);
      await redis.zadd(`${prefix}:metrics:ends`, '9000000000000', name);
    }
    await redis.zadd(`${prefix}:metrics:ends`, '1', 'worker-1');
    const { sum, samples } = await scrapeOf(store).scrape();
    expect(sum('crewboard_tasks_requeued_total')).toBe(0);
    expect(samples.filter(({ labels }) => labels.instance?.startsWith('worker'))).toEqual([]);
  });

  test('tells what the process itself knows while Redis is away', async () => {
    const redis = new Redis(await freePort(), '127.0.0.1', {
      maxRetriesPerRequest: null,
      retryStrategy: () => 100,
    });
    redis.on('error', () => {});
    const { scrape, metrics } = scrapeOf({ redis, prefix: store.prefix });
    metrics.sweepFailed();
    const { sum } = await scrape();
    expect(sum('crewboard_redis_up')).toBe(0);
    expect(sum('crewboard_sweeps_total', { outcome: 'failed', instance: 'api-here' })).toBe(1);
    redis.disconnect();
  });
});

test('models beyond the first twenty are told as one, and no name breaks a scrape', async () => {
  const { metrics, scrape } = scrapeOf(store);
  for (let i = 0; i < 50; i++)
    metrics.modelCalled({ model: `odd"\\\n name ${i}`, outcome: 'ok', tookMs: 10 });
  const { samples, sum } = await scrape();
  const calls = samples.filter(({ name }) => name === 'crewboard_model_calls_total');
  expect(calls).toHaveLength(21);
  expect(calls[0]?.labels.model).toBe('odd"\\\n name 0');
  expect(sum('crewboard_model_calls_total', { model: 'other' })).toBe(30);
});

test('the longest name of a model does not keep a process from being heard', async () => {
  const model = 'm'.repeat(5000);
  await publishAs('worker-1', (metrics) => metrics.modelCalled({ model, outcome: 'ok', tookMs: 10 }));
  const { sum } = await scrapeOf(store).scrape();
  expect(sum('crewboard_model_calls_total', { instance: 'worker-1' })).toBe(1);
});

test('every verb counts under a name of ours', async () => {
  const { metrics, scrape } = scrapeOf(store);
  metrics.attemptStarted('human');
  metrics.attemptEnded({ outcome: 'failed', failureClass: 'timeout', holder: 'human', heldMs: 1500 });
  metrics.callBooked('estimated', 0.5);
  metrics.jobStarted();
  metrics.boardSwept(2);
  metrics.taskRequeued();
  const { sum } = await scrape();
  expect(sum('crewboard_attempts_started_total', { holder: 'human' })).toBe(1);
  expect(sum('crewboard_attempts_ended_total', { class: 'timeout' })).toBe(1);
  expect(sum('crewboard_attempt_duration_seconds_sum')).toBe(1.5);
  expect(sum('crewboard_spend_usd_total', { kind: 'estimated' })).toBe(0.5);
  expect(sum('crewboard_jobs_started_total')).toBe(1);
  expect(sum('crewboard_lease_expiries_total')).toBe(2);
  expect(sum('crewboard_attempts_ended_total', { outcome: 'expired' })).toBe(2);
  expect(sum('crewboard_tasks_requeued_total')).toBe(1);
});
