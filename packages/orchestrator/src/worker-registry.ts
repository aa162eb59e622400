import { randomBytes } from 'node:crypto';
import type { RedisClient } from '@crewboard/board';
import { z } from 'zod';
import { pause } from './lease.ts';
import type { Log } from './log.ts';
import { queueName, type Role } from './queues.ts';
import type { Provider } from './settings.ts';

/** A worker that was not heard of for so long counts as gone; by the clock of Redis. */
const LEASE_MS = 15_000;
const BEAT_MS = LEASE_MS / 3;

/** A worker that only runs commands stands apart from those that reach the models. */
const keyOf = (prefix: string, provider: Provider, hasModels: boolean) =>
  `${prefix}:workers:${provider}${hasModels ? '' : ':commands'}`;

const NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)";
/** KEYS: 1 workers by the end of their leases. ARGV: 1 worker, 2 leaseMs. Forgets those that are gone. */
const BEAT = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
/** KEYS: 1 workers with models, 2 with commands alone, 3 and 4 what BullMQ notes of the queues in the order of ROLES. */
const LOOK = `${NOW}
local function alive(key) return redis.call('ZCOUNT', key, string.format('(%.0f', now), '+inf') end
local function paused(key) return redis.call('HEXISTS', key, 'paused') end
return { alive(KEYS[1]), alive(KEYS[2]), paused(KEYS[3]), paused(KEYS[4]) }`;
const ROLES = ['lead', 'tasks'] as const satisfies Role[];
const LookReply = z.tuple([z.number(), z.number(), z.number(), z.number()]);

/**
 * Says that this worker takes tasks of `providers`, and whether it reaches their models or only runs commands, until
 * `signal` aborts; then takes its name away again. Resolves after that. A Redis that is away is waited for.
 */
export async function announceWorker(
  redis: RedisClient,
  prefix: string,
  worker: { id: string; providers: readonly Provider[]; hasModels: boolean; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { id, providers, hasModels, log } = worker;
  const keys = providers.map((provider) => keyOf(prefix, provider, hasModels));
  while (!signal.aborted) {
    await Promise.all(keys.map((key) => redis.eval(BEAT, 1, key, id, LEASE_MS))).catch((error: unknown) =>
      log.warn({ err: error }, 'this worker could not be announced'),
    );
    await pause(BEAT_MS, signal);
  }
  await Promise.all(keys.map((key) => redis.zrem(key, id))).catch(() => {});
}

/** What is there to take the tasks of a provider. */
export interface Served {
  /** Some worker that reaches its models. */
  withModels: boolean;
  /** Some worker without models, which runs commands. */
  withCommands: boolean;
  /** Of its queues those that somebody has paused in Bull Board. */
  paused: readonly Role[];
}

export type ServedBy = (provider: Provider) => Promise<Served>;

/** Reads, in one step, what workers have announced below `prefix` and which queues are paused. */
export function servedProviders(redis: RedisClient, prefix: string): ServedBy {
  return async (provider) => {
    const metas = ROLES.map((role) => `${prefix}:${queueName(provider, role)}:meta`);
    const keys = [keyOf(prefix, provider, true), keyOf(prefix, provider, false), ...metas];
    const reply = LookReply.parse(await redis.eval(LOOK, keys.length, ...keys));
    const [models, commands, ...paused] = reply;
    return {
      withModels: models > 0,
      withCommands: commands > 0,
      paused: ROLES.filter((_, i) => paused[i] === 1),
    };
  };
}

/** KEYS: workers by the end of their leases. Returns those that are there. */
const NAMES = `${NOW}
local names = {}
for _, key in ipairs(KEYS) do
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', key, string.format('(%.0f', now), '+inf')) do
    names[#names + 1] = name
  end
end
return names`;
const PROVIDERS = ['anthropic', 'simulated'] as const satisfies Provider[];

/** The name of a worker of the machine `host`, unlike that of any other one. */
export function workerName(host: string, pid: number): string {
  return `${host}-${pid}-${randomBytes(3).toString('hex')}`;
}

/** True while a worker of the machine `host` says below `prefix` that it takes tasks. */
export async function isAnnounced(redis: RedisClient, prefix: string, host: string): Promise<boolean> {
  const keys = PROVIDERS.flatMap((provider) =>
    [true, false].map((models) => keyOf(prefix, provider, models)),
  );
  const names = z.array(z.string()).parse(await redis.eval(NAMES, keys.length, ...keys));
  return names.some((name) => name.replace(/-\d+-[0-9a-f]{6}$/, '') === host);
}
