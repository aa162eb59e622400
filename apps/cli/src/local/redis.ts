import { join } from 'node:path';
import { CrewboardError, newSecret } from '@crewboard/contracts';
import { makeFolder } from '@crewboard/tools';
import { readConfig } from '../config.ts';
import { CLI_FILE, startChild } from './child.ts';
import { type LogFile, openLogFile } from './log-file.ts';
import { startRedisServer } from './redis-server.ts';
import { localUrl } from './redis-state.ts';
import type { Running } from './running.ts';

export type RedisKind = 'server' | 'embedded';

/** A Redis of this machine that this process started or took over. */
export interface LocalRedis extends Running {
  url: string;
  kind: RedisKind;
  /** As INFO tells it; undefined for the embedded server. */
  version: string | undefined;
  adopted: boolean;
}

export interface LocalRedisOptions {
  /** The folder for its data; made when missing. */
  dir: string;
  /** Forces a kind; absent: a server from PATH when there is one, else the embedded one. */
  kind?: RedisKind | undefined;
  /** The URL of an embedded server that died: others know it, so the new one takes port and password from it. */
  embeddedUrl?: string | undefined;
  /** The environment for children, whose PATH is searched; absent: that of this process. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** Where its output goes; absent: `redis.log` in `dir`. */
  log?: LogFile | undefined;
  signal?: AbortSignal | undefined;
}

async function startEmbedded(
  options: LocalRedisOptions,
  log: LogFile,
  signal: AbortSignal,
): Promise<LocalRedis> {
  const url = options.embeddedUrl ?? localUrl(0, newSecret());
  const running = await startChild(
    {
      name: 'the embedded Redis',
      file: CLI_FILE,
      args: ['embedded-redis', '--port', new URL(url).port],
      // The password goes by the environment: everybody sees a command line.
      variables: { ...(options.variables ?? readConfig().childVariables), REDIS_URL: url },
      log,
    },
    signal,
  );
  if (running.url === undefined)
    throw new CrewboardError('unavailable', 'the embedded Redis told no address');
  return { ...running, url: running.url, kind: 'embedded', version: undefined, adopted: false };
}

/**
 * Starts a Redis for this machine, reachable from it only: redis-server or valkey-server from PATH with durable
 * data in `dir`, else (or with `kind: "embedded"`) the embedded server, which keeps nothing. Takes over a server
 * that is still running on `dir`. Stop it with `stop`.
 * Throws `unavailable` when it can't be started or may evict keys.
 */
export async function startLocalRedis(options: LocalRedisOptions): Promise<LocalRedis> {
  await makeFolder(options.dir);
  const log = options.log ?? openLogFile(join(options.dir, 'redis.log'));
  const signal = options.signal ?? new AbortController().signal;
  if (options.kind !== 'embedded') {
    const server = await startRedisServer({ dir: options.dir, log, path: options.variables?.PATH }, signal);
    if (server !== undefined) return { ...server, kind: 'server' };
  }
  if (options.kind === 'server') {
    throw new CrewboardError(
      'unavailable',
      'there is no redis-server or valkey-server on PATH: install one, or set REDIS_URL',
    );
  }
  return startEmbedded(options, log, signal);
}
