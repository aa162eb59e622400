import { parseEnvironment } from '@crewboard/contracts';
import { settingsFrom, warnAtStart } from '@crewboard/orchestrator';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { settingWarnings } from '../../packages/orchestrator/src/start-warnings.ts';
import { openLocalStack } from '../support/local-stack.ts';
import { hasRedisServer, startRedisProcess } from '../support/redis-process.ts';

const MODEL = { ANTHROPIC_API_KEY: 'a-key' };
const settingsOf = (variables: Record<string, string>) => settingsFrom(parseEnvironment(variables), '/work');

it('says nothing of settings as they come', () => {
  expect(settingWarnings(settingsOf(MODEL), 'worker')).toEqual([]);
  expect(settingWarnings(settingsOf(MODEL), 'api')).toEqual([]);
});

it.each([
  [{ CREWBOARD_LEASE_MS: '10000' }, /^CREWBOARD_REDIS_SILENCE_MS \(10000\) .* CREWBOARD_LEASE_MS \(10000\)/],
  [{ CREWBOARD_REDIS_SILENCE_MS: '40000' }, /^CREWBOARD_REDIS_SILENCE_MS \(40000\)/],
  [{ CREWBOARD_WORKSPACES: ':' }, /^CREWBOARD_WORKSPACES names no folder/],
])('warns of %o', (variables, text) => {
  expect(settingWarnings(settingsOf({ ...MODEL, ...variables }), 'worker')).toEqual([
    expect.stringMatching(text),
  ]);
});

it('says what a process without a model does not do, and what to set', () => {
  expect(settingWarnings(settingsOf({}), 'worker')).toEqual([
    expect.stringMatching(/^no model is set up: this worker only runs .* commands.*Set ANTHROPIC_API_KEY/),
  ]);
  expect(settingWarnings(settingsOf({}), 'api')).toEqual([
    expect.stringMatching(/^no model is set up: jobs that need one are refused\. Set ANTHROPIC_API_KEY/),
  ]);
});

it('a worker and an API log it when they start', { timeout: 30_000 }, async () => {
  await using stack = await openLocalStack({
    variables: { CREWBOARD_LEASE_MS: '5000', CREWBOARD_COMMANDS: 'host' },
    workerVariables: { CREWBOARD_SIMULATED_MODEL_URL: '' },
  });
  expect(stack.logged().match(/CREWBOARD_REDIS_SILENCE_MS \(10000\) is not below/g)).toHaveLength(2);
  expect(stack.logged().match(/no model is set up: this worker only runs/g)).toHaveLength(1);
});

it.runIf(await hasRedisServer())('a Redis that may drop tasks is named once, in the log', async () => {
  await using server = await startRedisProcess();
  const redis = new Redis(server.url);
  const logged: unknown[] = [];
  const log = { debug() {}, info() {}, warn: (...entry: unknown[]) => logged.push(entry), error() {} };
  const warn = () => warnAtStart({ settings: settingsOf(MODEL), redis, log }, 'worker');
  await warn();
  expect(logged).toEqual([]);
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await warn();
  expect(logged).toEqual([
    [{ maxmemoryPolicy: 'allkeys-lru' }, expect.stringMatching(/maxmemory-policy .*docs\/operations\.md/)],
  ]);
  redis.disconnect();
});
