import { hostname } from 'node:os';
import { CrewboardError, type Environment, secretsOf } from '@crewboard/contracts';
import {
  allQueues,
  awaitRedis,
  checkFolders,
  composeCore,
  createEventHub,
  createKeyStore,
  createProcessMetrics,
  createScrape,
  createService,
  EVENTS_BLOCK_MS,
  logConnection,
  logDefects,
  publishMetrics,
  REDIS_OPTIONS,
  readPriceFile,
  resolveCommandsMode,
  settingsFrom,
  warnAtStart,
  watchConnections,
  watchDataFolder,
  workerName,
} from '@crewboard/orchestrator';
import type { FastifyBaseLogger } from 'fastify';
import { Redis } from 'ioredis';
import { environmentKeys, keyRings, storedKeys } from './auth.ts';
import { readConfig } from './config.ts';
import { createLogger } from './logger.ts';
import { createSessions } from './login/sessions.ts';
import { type ApiParts, startApi } from './start-api.ts';

/** A request must not hang on a Redis that is away: it is answered `unavailable` by then. */
const COMMAND_TIMEOUT_MS = 5000;

/** The keys that the API takes: the environment's, which needs no Redis, and those that are kept there. */
function openKeys(config: Environment, redis: Redis, log: FastifyBaseLogger) {
  const { CREWBOARD_API_KEY: key, CREWBOARD_PREFIX: prefix } = config;
  const store = createKeyStore(redis, prefix);
  const keys = keyRings([environmentKeys(key), storedKeys(store)], (keyId) => {
    store
      .markUsed(keyId)
      .catch((error: unknown) => log.debug({ err: error }, 'the use of a key was not noted'));
  });
  return { keys, sessions: createSessions(redis, prefix, keys) };
}

/**
 * Opens the API's connections and builds what it serves. Throws `invalid_argument` without REDIS_URL, `unavailable`
 * when Redis does not answer, and either for a data folder that takes no writes.
 */
export async function composeApi(config: Environment, log: FastifyBaseLogger): Promise<ApiParts> {
  const { REDIS_URL: url } = config;
  if (url === undefined) {
    throw new CrewboardError(
      'invalid_argument',
      'REDIS_URL is not set: name a Redis, or start everything with `crewboard up`.',
    );
  }
  // The API runs none itself, so what was asked for is the workers' to keep.
  const commands = config.CREWBOARD_COMMANDS ?? (await resolveCommandsMode(undefined));
  const settings = settingsFrom(config, process.cwd(), commands, readPriceFile(config, process.cwd()));
  await checkFolders(settings, log);
  const connect = (name: string, options: object) => {
    const redis = new Redis(url, { ...REDIS_OPTIONS, ...options });
    logConnection(redis, name, log);
    return redis;
  };
  // A command whose connection broke is not sent again by itself: what people ask for must not happen twice.
  const redis = connect('commands', {
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  await awaitRedis(redis, url).catch((error: unknown) => {
    redis.disconnect();
    throw error;
  });
  const queueConnection = connect('queues', { maxRetriesPerRequest: null });
  const reader = connect('events', { maxRetriesPerRequest: null });
  void warnAtStart({ settings, redis, log }, 'api');
  const { metrics, registry } = createProcessMetrics();
  const core = composeCore({ redis, queueConnection, settings, log, metrics });
  const { boards, artifacts, deleteJob } = core;
  const hub = createEventHub(reader, boards, log);
  const watch = watchConnections({ silenceMs: settings.redisSilenceMs, log });
  watch.add('commands', redis);
  watch.add('queues', queueConnection);
  watch.add('events', reader, EVENTS_BLOCK_MS);
  const { prefix } = settings;
  const instance = `api-${workerName(hostname(), process.pid)}`;
  const scrape = createScrape({ redis, prefix, boards, queues: allQueues(core.queues), instance, registry });
  const ending = new AbortController();
  const published = publishMetrics({ redis, prefix, instance, registry, log }, ending.signal);
  return {
    service: createService({
      boards,
      redis,
      hub,
      settings,
      artifacts,
      deleteJob,
      watch,
      dataFolder: watchDataFolder(settings.dataDir),
      hasEnvironmentKey: config.CREWBOARD_API_KEY !== undefined,
    }),
    ...openKeys(config, redis, log),
    queues: allQueues(core.queues),
    metrics: { registry, scrape },
    async close() {
      ending.abort();
      watch.close();
      hub.close();
      await Promise.all([core.close(), published]);
      queueConnection.disconnect();
      redis.disconnect();
    },
  };
}

/** Runs the API by `config`, by default the process environment, until `stop`. */
export async function runApi(config = readConfig()): Promise<{ url: string; stop(): Promise<void> }> {
  const logger = createLogger(config.CREWBOARD_LOG_LEVEL, undefined, secretsOf(config));
  logDefects(logger, process);
  const api = await startApi({ config, compose: composeApi, logger });
  return { url: api.url, stop: () => api.close() };
}
