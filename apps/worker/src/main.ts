import { CrewboardError } from '@crewboard/contracts';
import { providersOf, settingsFrom } from '@crewboard/orchestrator';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { readConfig } from './config.ts';
import { startWorker } from './worker.ts';

/**
 * Runs a worker by the process environment: opens its connections, takes tasks until `stop`. Throws
 * `invalid_argument` when REDIS_URL or a model is missing, `unavailable` when Redis does not answer.
 */
export async function runWorker(): Promise<{ stop(): Promise<void> }> {
  const config = readConfig();
  const { REDIS_URL: url } = config;
  if (url === undefined)
    throw new CrewboardError(
      'invalid_argument',
      'REDIS_URL is not set: a worker needs the Redis of its API.',
    );
  const settings = settingsFrom(config, process.cwd());
  if (providersOf(settings).length === 0) {
    throw new CrewboardError(
      'invalid_argument',
      'no model is set up: set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL (or run `crewboard up`, which offers a simulated one).',
    );
  }
  const log = pino({ level: config.CREWBOARD_LOG_LEVEL, name: 'worker' }, pino.destination(2));
  const connect = () => {
    const redis = new Redis(url, { maxRetriesPerRequest: null });
    redis.on('error', (error) => log.warn({ err: error.message }, 'redis connection'));
    return redis;
  };
  const connections = { boards: connect(), queues: connect(), subscriber: connect() };
  const disconnect = () => {
    for (const connection of Object.values(connections)) connection.disconnect();
  };
  try {
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
