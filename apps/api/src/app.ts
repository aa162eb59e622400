import { CrewboardError } from '@crewboard/contracts';
import { createProcessMetrics, type Scrape, type Service, scrapeOwn } from '@crewboard/orchestrator';
import type { Queue } from 'bullmq';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Registry } from 'prom-client';
import type { Access, Caller } from './access.ts';
import type { KeyRing } from './auth.ts';
import { mountBullBoard } from './bull-board.ts';
import { answerClientError, answerExpectation, giveLeave } from './client-errors.ts';
import { mountDocsPage } from './docs-page.ts';
import { installDoor } from './door.ts';
import type { Guard, Proof } from './guard.ts';
import { measureRequests } from './http-metrics.ts';
import { acceptJsonOnly } from './json-body.ts';
import type { Sessions } from './login/sessions.ts';
import { isLoopback } from './origin.ts';
import { refuseUnknownMethod } from './other-methods.ts';
import { problemHandler } from './problem.ts';
import { registerRoutes } from './register-routes.ts';
import type { Route } from './route.ts';
import { artifactRoutes } from './routes/artifacts.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { holderRoutes } from './routes/holders.ts';
import { jobControlRoutes } from './routes/job-controls.ts';
import { jobRoutes } from './routes/jobs.ts';
import { keyRoutes } from './routes/keys.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { withOpenApi } from './routes/openapi.ts';
import { personRoutes } from './routes/persons.ts';
import { rerunRoutes } from './routes/rerun.ts';
import { resultRoutes } from './routes/results.ts';
import { steerRoutes } from './routes/steer.ts';
import { taskRoutes } from './routes/tasks.ts';
import { dropSilentConnectionsOnClose } from './silent-connections.ts';
import { openStreams, type StreamBounds } from './streams.ts';
import { VERSION } from './version.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    caller: Caller | undefined;
    /** By what the caller is known. */
    proof: Proof | undefined;
  }
}

/** Where the application counts its requests, and what `/metrics` answers. */
export interface ApiMetrics {
  registry: Registry;
  scrape: Scrape;
}

/** What the application is built from. */
export interface AppDependencies {
  service: Service;
  /** The keys that are taken. */
  keys: KeyRing;
  /** The logins of browsers. */
  sessions: Sessions;
  /** The queues that Bull Board shows. */
  queues: readonly Queue[];
  logger: FastifyBaseLogger;
  /** Where the server will listen: on loopback the `Host` header is checked. */
  host: string;
  bodyLimitBytes: number;
  /** Requests of one key in a minute; absent or 0: no limit. */
  requestsPerMinute?: number;
  /** Origins besides the server's own whose pages may use it; absent: none. */
  origins?: readonly string[];
  /** Addresses of proxies whose word on the client's address is taken; absent: none. */
  proxies?: readonly string[];
  /** How often it is looked whether the key of a running request still holds; 5 s by default. */
  lookMs?: number;
  /** What this process counts, and how all is scraped; absent: it counts for itself alone. */
  metrics?: ApiMetrics;
  /** The longest silence on an event stream before a comment; 15 s by default. */
  sseCommentMs?: number;
  /** How many streams there may be, and how long a client may take nothing; those of the server by default. */
  streamBounds?: StreamBounds;
}

const SSE_COMMENT_MS = 15_000;
/** A request, body included, must have arrived by then. */
const REQUEST_TIMEOUT_MS = 120_000;

function ownMetrics(): ApiMetrics {
  const { registry } = createProcessMetrics();
  return { registry, scrape: scrapeOwn(registry) };
}

/** Returns the route table. */
export function routeTable(
  service: Service,
  sseCommentMs: number = SSE_COMMENT_MS,
  scrape: Scrape = async () => '',
): Route[] {
  const routes = [
    ...jobRoutes(service),
    ...jobControlRoutes(service),
    ...taskRoutes(service),
    ...holderRoutes(service),
    ...personRoutes(service),
    ...rerunRoutes(service),
    ...steerRoutes(service),
    ...eventRoutes(service, sseCommentMs),
    ...resultRoutes(service),
    ...artifactRoutes(service),
    ...keyRoutes(service),
    ...healthRoutes(service),
    ...metricsRoutes(scrape),
  ];
  return withOpenApi(routes, VERSION);
}

/** One line a request: no headers, no body, no query (people paste keys there). */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const [path] = request.raw.url?.split('?', 1) ?? [];
    request.log.info(
      {
        method: request.method,
        path,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        caller: request.caller?.caller,
      },
      'request',
    );
  });
}

/** The server, before it has routes. `guard` is run by hand for paths that the router can't read: they run no hooks. */
function openServer(
  { logger, bodyLimitBytes, proxies = [] }: AppDependencies,
  handleProblem: ReturnType<typeof problemHandler>,
  guard: Guard,
): FastifyInstance {
  return fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyLimitBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    trustProxy: proxies.length === 0 ? false : [...proxies],
    clientErrorHandler: answerClientError,
    // The door refuses what has no Host, in words.
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) => {
      void guard(request, reply).then(
        (answered) => (answered === undefined ? handleProblem(error, request, reply) : undefined),
        (failure) => handleProblem(failure, request, reply),
      );
    },
  });
}

/** Builds the HTTP application; it listens nowhere and owns none of its dependencies. */
export function buildApp(dependencies: AppDependencies): FastifyInstance {
  const { service, keys, sessions, queues, host, bodyLimitBytes, sseCommentMs, lookMs } = dependencies;
  const { registry, scrape } = dependencies.metrics ?? ownMetrics();
  const handleProblem = problemHandler(bodyLimitBytes);
  const streams = openStreams(dependencies.streamBounds);
  const app = openServer(dependencies, handleProblem, (request, reply) => guard(request, reply));
  app.decorateRequest('caller', undefined);
  app.decorateRequest('proof', undefined);
  const boundToLoopback = isLoopback(host);
  const guard = installDoor(app, {
    keys,
    sessions,
    boundToLoopback,
    origins: dependencies.origins ?? [],
    requestsPerMinute: dependencies.requestsPerMinute ?? 0,
    limitsGuessing: !boundToLoopback,
    lookMs,
  });
  logRequests(app);
  measureRequests(app, registry);
  app.setErrorHandler(handleProblem);
  app.setNotFoundHandler((request, reply) => {
    if (!app.supportedMethods.includes(request.method)) refuseUnknownMethod(request, reply);
    throw new CrewboardError('not_found', 'There is no such path: the API is below /v1.', {
      next: { call: 'list' },
    });
  });
  acceptJsonOnly(app);
  registerRoutes(app, routeTable(service, sseCommentMs, scrape), streams);
  mountBullBoard(app, queues, bodyLimitBytes);
  mountDocsPage(app);
  app.addHook('preClose', async () => streams.endAll());
  app.server.on('checkExpectation', answerExpectation);
  giveLeave(app.server, bodyLimitBytes);
  dropSilentConnectionsOnClose(app);
  return app;
}
