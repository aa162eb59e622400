import { Ready } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { z } from 'zod';
import { BARE, json, publicRoute, type Route } from '../route.ts';

/** Returns the routes for supervisors: is the process alive, can it take work. */
export function healthRoutes(service: Service): Route[] {
  return [
    publicRoute({
      ...BARE,
      method: 'GET',
      name: 'readHealth',
      path: '/healthz',
      summary: 'The process answers',
      answer: z.strictObject({ ok: z.literal(true) }),
      handler: async () => json({ ok: true }),
    }),
    publicRoute({
      ...BARE,
      method: 'GET',
      name: 'readReadiness',
      path: '/readyz',
      summary: 'The server can take work (503 when it cannot)',
      answer: Ready,
      otherStatuses: [503],
      handler: async () => {
        const ready = await service.ready();
        return json(ready, ready.ready ? 200 : 503);
      },
    }),
  ];
}
