import type { FastifyInstance } from 'fastify';
import { Gauge, Histogram, type Registry } from 'prom-client';

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const isEventStream = (contentType: unknown) => String(contentType).startsWith('text/event-stream');

/** What no route took, and Bull Board's many files, are one route each. */
function routeOf(url: string | undefined): string {
  if (url === undefined || url === '*') return 'none';
  return url.startsWith('/admin/queues') ? '/admin/queues/*' : url;
}

/** Times every request by its route's pattern, and counts event streams while they are open. */
export function measureRequests(app: FastifyInstance, registry: Registry): void {
  const registers = [registry];
  const took = new Histogram({
    name: 'crewboard_http_request_duration_seconds',
    help: 'Requests to the API, by the pattern of the route; without event streams, which stay open.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers,
  });
  const streams = new Gauge({
    name: 'crewboard_sse_streams',
    help: 'Event streams that are open.',
    registers,
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    if (isEventStream(reply.getHeader('content-type')) && !reply.raw.destroyed) {
      streams.inc();
      reply.raw.once('close', () => streams.dec());
    }
    return payload;
  });
  app.addHook('onResponse', async (request, reply) => {
    if (isEventStream(reply.getHeader('content-type'))) return;
    const { method } = request;
    const route = routeOf(request.routeOptions.url);
    took.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
}
