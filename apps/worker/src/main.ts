import { hostname } from 'node:os';
import { CrewboardError, type Environment, secretsOf } from '@crewboard/contracts';
import {
  awaitRedis,
  checkFolders,
  createLogger,
  isAnnounced,
  logConnection,
  logDefects,
  providersOf,
  REDIS_OPTIONS,
  readPriceFile,
  resolveCommandsMode,
  settingsFrom,
} from '@crewboard/orchestrator';
import { Redis } from 'ioredis';
import { readConfig } from './config.ts';
import { type DoctorRun, examineBoards, type JobReport } from './doctor.ts';
import { startWorker } from './worker.ts';

function redisUrlOf({ REDIS_URL: url }: Environment): string {
  if (url !== undefined) return url;
  throw new CrewboardError('invalid_argument', 'REDIS_URL is not set: a worker needs the Redis of its API.');
}

/**
 * Runs a worker by `config`, by default the process environment: opens its connections, takes tasks until `stop`. Throws
 * `invalid_argument` when REDIS_URL is missing, or both a model and commands, `unavailable` when Redis does not answer,
 * and either for a data folder that takes no writes.
 */
export async function runWorker(config = readConfig()): Promise<{ stop(): Promise<void> }> {
  const url = redisUrlOf(config);
  const commands = await resolveCommandsMode(config.CREWBOARD_COMMANDS);
  const settings = settingsFrom(config, process.cwd(), commands, readPriceFile(config, process.cwd()));
  if (providersOf(settings).length === 0 && commands === 'off') {
    throw new CrewboardError(
      'invalid_argument',
      'no model is set up, and commands are off, so there is nothing to do: set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL (or run `crewboard up`, which offers a simulated model).',
    );
  }
  const log = createLogger({
    name: 'worker',
    level: config.CREWBOARD_LOG_LEVEL,
    secrets: secretsOf(config),
  });
  logDefects(log, process);
  await checkFolders(settings, log);
  const connect = (name: string) => {
    const redis = new Redis(url, { ...REDIS_OPTIONS, maxRetriesPerRequest: null });
    logConnection(redis, name, log);
    return redis;
  };
  const connections = { boards: connect('boards'), queues: connect('queues'), subscriber: connect('news') };
  const disconnect = () => {
    for (const connection of Object.values(connections)) connection.disconnect();
  };
  try {
    await awaitRedis(connections.boards, url);
    const worker = await startWorker(settings, connections, log);
    return {
      async stop() {
        await worker.stop().finally(disconnect);
      },
    };
  } catch (error) {
    disconnect();
    throw error;
  }
}

/** A Redis that does not answer by then is taken for gone: somebody waits at a terminal. */
const CONNECT_WITHIN_MS = 5000;

/** Opens a connection that does not wait for a Redis that is away. Throws `unavailable` naming its host. */
async function connectNow(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_WITHIN_MS,
    // Else a connection that never was holds the process for 2 s.
    disconnectTimeout: 50,
    maxRetriesPerRequest: 1,
    retryStrategy: () => null,
  });
  let why = '';
  redis.on('error', (error) => {
    why = ` (${error.message})`;
  });
  await redis.connect().catch((cause: unknown) => {
    redis.disconnect();
    const { host } = new URL(url);
    throw new CrewboardError('unavailable', `the Redis at ${host} can't be reached${why}`, {}, { cause });
  });
  return redis;
}

/**
 * Looks over the boards of the Redis at `redisUrl` on a connection of its own; see {@link examineBoards}.
 * Throws `unavailable` when that Redis can't be reached.
 */
export async function* runDoctor(run: DoctorRun & { redisUrl: string }): AsyncGenerator<JobReport> {
  const redis = await connectNow(run.redisUrl);
  try {
    yield* examineBoards(redis, run);
  } finally {
    redis.disconnect();
  }
}

/**
 * Resolves when a worker of this machine has said within the last 15 s that it takes tasks: so its process runs and
 * reaches Redis. Throws `unavailable` when none has, and `invalid_argument` without REDIS_URL.
 */
export async function checkWorker(config = readConfig()): Promise<void> {
  const redis = await connectNow(redisUrlOf(config));
  const isThere = await isAnnounced(redis, config.CREWBOARD_PREFIX, hostname()).finally(() =>
    redis.disconnect(),
  );
  if (isThere) return;
  throw new CrewboardError(
    'unavailable',
    `no worker of this machine (${hostname()}) takes tasks: start one with \`crewboard worker\`, or see in its log what keeps it.`,
  );
}
