import { CrewboardError, type Environment, secretsOf } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import type { Queue } from 'bullmq';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type ApiMetrics, buildApp } from './app.ts';
import type { KeyRing } from './auth.ts';
import { createLogger } from './logger.ts';
import type { Sessions } from './login/sessions.ts';
import { isLoopback } from './origin.ts';

/** What the API serves, with its connections; `close` ends them. */
export interface ApiParts {
  service: Service;
  queues: Queue[];
  keys: KeyRing;
  sessions: Sessions;
  metrics?: ApiMetrics;
  close(): Promise<void>;
}

/** A listening API. */
export interface RunningApi {
  /** Such as `http://127.0.0.1:7420`. */
  url: string;
  port: number;
  /** Stops listening, ends event streams, waits for running requests (at most 5 s), closes connections. */
  close(): Promise<void>;
}

export interface StartOptions {
  config: Environment;
  /** Opens the connections and builds what the API serves. */
  compose: (config: Environment, logger: FastifyBaseLogger) => Promise<ApiParts>;
  logger?: FastifyBaseLogger;
}

const CLOSE_GRACE_MS = 5000;
/** Of one key, where other machines can reach the server. */
const REQUESTS_PER_MINUTE = 1200;

function refuseOpenDoor(config: Environment): void {
  if (config.CREWBOARD_API_KEY !== undefined || isLoopback(config.CREWBOARD_HOST)) return;
  throw new CrewboardError(
    'invalid_argument',
    `CREWBOARD_HOST is ${config.CREWBOARD_HOST}, which other machines can reach, and no key is set: ` +
      'set CREWBOARD_API_KEY, or leave CREWBOARD_HOST at 127.0.0.1.',
  );
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CrewboardError(
      'unavailable',
      `The API cannot listen on ${host}:${port} (${reason}): free the port or set CREWBOARD_PORT.`,
      {},
      { cause: error },
    );
  }
  const address = app.server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

async function closeWithin(app: FastifyInstance, graceMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close().finally(() => clearTimeout(timer));
}

/**
 * Starts the API: opens its connections, listens, and answers when it can be used. Throws `invalid_argument`
 * for a bind beyond this machine without a key, and `unavailable` when it cannot listen.
 */
export async function startApi({ config, compose, logger }: StartOptions): Promise<RunningApi> {
  refuseOpenDoor(config);
  const { CREWBOARD_HOST: host, CREWBOARD_API_KEY: key } = config;
  const log = logger ?? createLogger(config.CREWBOARD_LOG_LEVEL, undefined, secretsOf(config));
  if (key === undefined) log.warn('no CREWBOARD_API_KEY: only keys that were made earlier can be used');
  const parts = await compose(config, log);
  try {
    const app = buildApp({
      service: parts.service,
      queues: parts.queues,
      keys: parts.keys,
      sessions: parts.sessions,
      ...(parts.metrics === undefined ? {} : { metrics: parts.metrics }),
      requestsPerMinute: config.CREWBOARD_RATE_LIMIT ?? (isLoopback(host) ? 0 : REQUESTS_PER_MINUTE),
      origins: config.CREWBOARD_CORS_ORIGINS,
      proxies: config.CREWBOARD_TRUSTED_PROXIES,
      logger: log,
      host,
      bodyLimitBytes: config.CREWBOARD_BODY_LIMIT,
    });
    const port = await listen(app, host, config.CREWBOARD_PORT);
    return {
      url: `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`,
      port,
      close: () => closeWithin(app, CLOSE_GRACE_MS).finally(() => parts.close()),
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
}
