import { CrewboardError } from '@crewboard/contracts';
import { Redis } from 'ioredis';

/** What a running Redis says about itself; fields that a managed server hides are undefined. */
export interface RedisFacts {
  version: string | undefined;
  pid: number | undefined;
  /** Its working directory, as the server sees it. */
  dir: string | undefined;
  maxmemoryPolicy: string | undefined;
}

/** A server that hangs must not hold up the stop; one that is busy goes on with its shutdown unobserved. */
const ANSWERS_WITHIN_MS = 1000;
const MIN_VERSION = [6, 2] as const;

function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}

async function configValue(redis: Redis, name: string): Promise<string | undefined> {
  // Managed servers refuse CONFIG, and the embedded one knows few parameters: both mean "not known".
  const answer: unknown = await redis.config('GET', name).catch(() => undefined);
  const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
  return typeof value === 'string' ? value : undefined;
}

async function readFacts(redis: Redis): Promise<RedisFacts> {
  const server = await redis.info('server');
  const memory = await redis.info('memory').catch(() => '');
  return {
    version: infoField(server, 'redis_version'),
    pid: Number(infoField(server, 'process_id')) || undefined,
    dir: await configValue(redis, 'dir'),
    maxmemoryPolicy: (await configValue(redis, 'maxmemory-policy')) ?? infoField(memory, 'maxmemory_policy'),
  };
}

export interface ProbeOptions {
  /** How long to wait for it to listen. */
  withinMs: number;
  /** Waits for it to have read its data, too. */
  waitForLoading?: boolean;
  signal?: AbortSignal;
}

/**
 * Connects to the Redis at `url` for one look and returns its facts.
 * Rejects with the connection's last error when it is out of reach.
 */
export async function probeRedis(url: string, options: ProbeOptions): Promise<RedisFacts> {
  const { withinMs, waitForLoading = false, signal } = options;
  const redis = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: waitForLoading,
    connectTimeout: withinMs,
    maxLoadingRetryTime: 200,
    maxRetriesPerRequest: null,
    retryStrategy: () => 25,
    // Else a connection that never was holds the process for 2 s.
    disconnectTimeout: 50,
  });
  let lastError = new Error(`no answer within ${withinMs} ms`);
  redis.on('error', (error) => {
    lastError = error;
  });
  // A disconnect while ioredis waits to reconnect leaves its commands unanswered: this ends the wait for them.
  let giveUp = () => {};
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = () => reject(lastError);
  });
  const timer = setTimeout(giveUp, withinMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await Promise.race([readFacts(redis), givenUp]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    redis.disconnect();
  }
}

/** A connection for one command to a server that should answer at once. */
function connectOnce(url: string): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 1,
    retryStrategy: () => null,
    connectTimeout: ANSWERS_WITHIN_MS,
    commandTimeout: ANSWERS_WITHIN_MS,
    disconnectTimeout: 50,
  });
  redis.on('error', () => {});
  return redis;
}

/** Gives a running server that has none a password. Rejects when it does not take it. */
export async function setPassword(url: string, password: string): Promise<void> {
  const redis = connectOnce(url);
  try {
    await redis.config('SET', 'requirepass', password);
  } finally {
    redis.disconnect();
  }
}

/** Sends SHUTDOWN: the server completes its append-only file and ends. Never rejects. */
export async function shutDownRedis(url: string): Promise<void> {
  const redis = connectOnce(url);
  // The server answers by closing the connection, which ioredis reports as an error.
  await redis.shutdown().catch(() => {});
  redis.disconnect();
}

/** True when a server with this policy may drop keys: a board in it would lose tasks without a trace. */
export function mayEvict(facts: RedisFacts): boolean {
  return facts.maxmemoryPolicy !== undefined && facts.maxmemoryPolicy !== 'noeviction';
}

/** Throws `unavailable` when the local server may drop keys. */
export function refuseEviction(facts: RedisFacts): void {
  if (!mayEvict(facts)) return;
  throw new CrewboardError(
    'unavailable',
    `the local Redis has maxmemory-policy ${facts.maxmemoryPolicy} and may drop tasks: set it to noeviction`,
  );
}

/** Throws `unavailable` when the server is older than Crewboard needs (6.2). */
export function checkVersion(facts: RedisFacts, what: string): void {
  const [major = 0, minor = 0] = (facts.version ?? '').split('.').map(Number);
  if (facts.version === undefined || major > MIN_VERSION[0]) return;
  if (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]) return;
  throw new CrewboardError(
    'unavailable',
    `${what} is Redis ${facts.version}, Crewboard needs ${MIN_VERSION.join('.')} or newer: update it, or set REDIS_URL to a newer one`,
  );
}

/** Returns `url` without its password, for messages. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  return shown.href;
}
