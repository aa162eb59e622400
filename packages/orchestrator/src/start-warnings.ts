import type { RedisClient } from '@crewboard/board';
import type { Log } from './log.ts';
import { providersOf, type Settings } from './settings.ts';

type Process = 'api' | 'worker';

const SET_A_MODEL = 'Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL';
const NO_MODEL: Record<Process, string> = {
  api: `no model is set up: jobs that need one are refused. ${SET_A_MODEL}.`,
  worker: `no model is set up: this worker only runs tasks that are commands, and leaves leads and agents to other workers. ${SET_A_MODEL} for it to run those too.`,
};

/** What of valid settings can hardly be meant, one line each: which variables, what follows, what to do. */
export function settingWarnings(
  settings: Pick<Settings, 'redisSilenceMs' | 'leaseMs' | 'providers' | 'workspaceRoots'>,
  process: Process,
): string[] {
  const { redisSilenceMs, leaseMs, workspaceRoots } = settings;
  const warnings: string[] = [];
  if (providersOf(settings).length === 0) warnings.push(NO_MODEL[process]);
  if (redisSilenceMs >= leaseMs)
    warnings.push(
      `CREWBOARD_REDIS_SILENCE_MS (${redisSilenceMs}) is not below CREWBOARD_LEASE_MS (${leaseMs}): when a Redis connection dies without a word, the leases of its tasks are over before it is found out. Let it be a third of the lease or less.`,
    );
  if (workspaceRoots.length === 0)
    warnings.push(
      'CREWBOARD_WORKSPACES names no folder: every job with a workspace is refused. Name one, or unset it for the working directory.',
    );
  return warnings;
}

/** The policy of a Redis that may drop keys when its memory is short; undefined for one that does not, or keeps it secret. */
async function evictionOf(redis: RedisClient): Promise<string | undefined> {
  const info = await redis.info('memory').catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  return policy === 'noeviction' ? undefined : policy;
}

/** Logs what will surprise whoever has started this process: settings, and a Redis that may drop tasks. Never rejects. */
export async function warnAtStart(
  { settings, redis, log }: { settings: Settings; redis: RedisClient; log: Log },
  process: Process,
): Promise<void> {
  for (const warning of settingWarnings(settings, process)) log.warn({}, warning);
  const maxmemoryPolicy = await evictionOf(redis);
  if (maxmemoryPolicy !== undefined)
    log.warn(
      { maxmemoryPolicy },
      'Redis DROPS TASKS when its memory is short: set its maxmemory-policy to noeviction (docs/operations.md, "Redis")',
    );
}
