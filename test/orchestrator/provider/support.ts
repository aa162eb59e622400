import { keyspace } from '@crewboard/board';
import { openRateStore, type RateStore } from '../../../packages/orchestrator/src/provider/rate-store.ts';
import type { ProviderTimes } from '../../../packages/orchestrator/src/provider/times.ts';
import { openTestRedis, type TestRedis } from '../../support/redis.ts';

export const MODEL = { provider: 'anthropic', model: 'some-model' } as const;

const TIMES: ProviderTimes = {
  slotLeaseMs: 30_000,
  brakeMs: 20,
  spreadMs: 1500,
  brakeMostMs: 86_400_000,
  waitMostMs: 20_000,
  windowMs: 30_000,
  vouchMs: 60_000,
  probeMs: 40,
  probeMostMs: 160,
  refusedMs: 40,
  refusedMostMs: 160,
  probeTimeoutMs: 1000,
  downParkMs: 600_000,
  watchMs: 50,
};

/** The shared state of models as two processes see it, over connections of their own. */
export interface TwoProcesses extends AsyncDisposable {
  one: RateStore;
  other: RateStore;
  times: ProviderTimes;
  store: TestRedis;
}

/** Opens two views of one governor; `times` above short ones. */
export function openTwoProcesses(times: Partial<ProviderTimes> = {}): TwoProcesses {
  const store = openTestRedis();
  const second = store.redis.duplicate();
  const all = { ...TIMES, ...times };
  const keys = keyspace(store.prefix);
  return {
    one: openRateStore(store.redis, keys, all),
    other: openRateStore(second, keys, all),
    times: all,
    store,
    async [Symbol.asyncDispose]() {
      second.disconnect();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** Tells of a failed call that held no slot. */
export const failing = (task: string, askedMs = 0) => ({
  id: `call of ${task}`,
  task,
  end: 'overloaded' as const,
  askedMs,
  why: '529 overloaded_error: Overloaded',
});
