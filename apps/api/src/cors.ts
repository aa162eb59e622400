import fastifyCors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** What a page of another origin may send, and read of answers, besides what every page may. */
const SENT = ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'Range', 'If-Range'];
const READ = [
  'Retry-After',
  'Allow',
  'ETag',
  'Accept-Ranges',
  'Content-Range',
  'Content-Length',
  'Content-Disposition',
  'WWW-Authenticate',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];
const PREFLIGHT_KEPT_SECONDS = 600;

/**
 * Lets pages of exactly these origins use the API with a key; without any, nothing says anything of other origins. A
 * preflight carries no key: it is answered for these origins alone, and goes the way of every request for others.
 * Cookies are never asked for: a login is for this server's own pages.
 */
export function openToOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.addHook('onRoute', (route) => {
    // The plugin's own route, for paths that have no other.
    if (route.url === '*' && route.method === 'OPTIONS')
      route.config = { ...route.config, access: 'any-key' };
  });
  void app.register(fastifyCors, {
    origin: async (origin: string | undefined) => origin !== undefined && origins.includes(origin),
    methods: METHODS,
    allowedHeaders: SENT,
    exposedHeaders: READ,
    maxAge: PREFLIGHT_KEPT_SECONDS,
    strictPreflight: false,
  });
}
