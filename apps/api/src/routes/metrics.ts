import { Readable } from 'node:stream';
import type { Scrape } from '@crewboard/orchestrator';
import { z } from 'zod';
import { BARE, guardedRoute, type Route } from '../route.ts';

/** Prometheus sends a hint of its own. */
const ScrapeQuery = z.object({});

/** Returns the route that Prometheus scrapes. */
export function metricsRoutes(scrape: Scrape): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'scrapeMetrics',
      path: '/metrics',
      summary: 'Metrics of the installation in the text format of Prometheus',
      access: 'all-projects',
      query: ScrapeQuery,
      answer: z.string(),
      notJson: true,
      handler: async () => {
        const text = await scrape();
        return {
          kind: 'bytes',
          status: 200,
          headers: {
            'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
            'Content-Length': String(Buffer.byteLength(text)),
          },
          open: async () => Readable.from([text]),
        };
      },
    }),
  ];
}
