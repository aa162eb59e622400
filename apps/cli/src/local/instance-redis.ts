import { join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { explain } from '../failure.ts';
import { openLogFile } from './log-file.ts';
import { type LocalRedis, startLocalRedis } from './redis.ts';
import { checkVersion, mayEvict, probeRedis, withoutPassword } from './redis-probe.ts';
import type { Start } from './start.ts';

/** The Redis of an instance; `text` says for people what and where it is. */
export interface InstanceRedis {
  kind: 'external' | LocalRedis['kind'];
  url: string;
  text: string;
}

async function useExternal(start: Start, url: string): Promise<InstanceRedis> {
  const shown = withoutPassword(url);
  const facts = await probeRedis(url, { withinMs: 3000, signal: start.signal }).catch((error) => {
    const fix = 'check REDIS_URL, or unset it to let crewboard start a Redis of its own';
    throw new CrewboardError(
      'unavailable',
      `the Redis at ${shown} can't be reached (${explain(error)}): ${fix}`,
    );
  });
  checkVersion(facts, `the server at ${shown}`);
  if (mayEvict(facts)) {
    start.report(
      `WARNING: the Redis at ${shown} has maxmemory-policy ${facts.maxmemoryPolicy}: short of memory, it DROPS TASKS. Set its maxmemory-policy to noeviction.`,
    );
  }
  return { kind: 'external', url, text: shown };
}

async function useLocal(start: Start): Promise<InstanceRedis> {
  const { folder, config } = start;
  const log = openLogFile(join(folder.logs, 'redis.log'));
  start.onUndo(async () => log.close());
  const supervised = await start.keep<LocalRedis>({
    name: 'redis',
    start: (signal, previous) =>
      startLocalRedis({
        dir: folder.redis,
        variables: config.childVariables,
        log,
        signal,
        ...(previous === undefined ? {} : { kind: previous.kind, embeddedUrl: previous.url }),
      }),
  });
  const redis = supervised.current();
  if (redis.adopted)
    start.report(`took over the Redis that an earlier crewboard left running (process ${redis.pid})`);
  if (redis.kind === 'server') {
    return { kind: 'server', url: redis.url, text: `${redis.version ?? 'server'}, data in ${folder.redis}` };
  }
  start.report(
    'NOTICE: there is no redis-server on PATH, so an embedded in-memory Redis is used: NOTHING SURVIVES A RESTART. Install Redis 6.2 or newer, or set REDIS_URL.',
  );
  return { kind: 'embedded', url: redis.url, text: 'embedded, in memory: nothing survives a restart' };
}

/**
 * Gives the instance its Redis: REDIS_URL if set, else one of its own (see `startLocalRedis`), with notices of
 * what may lose data. Throws `unavailable` when REDIS_URL can't be reached or none can be started.
 */
export function useRedis(start: Start): Promise<InstanceRedis> {
  const { REDIS_URL } = start.config.environment;
  return REDIS_URL === undefined ? useLocal(start) : useExternal(start, REDIS_URL);
}
