import { CrewboardError, EventFilterQuery, EventId, EventList, isEnded } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { z } from 'zod';
import { type Answer, BARE, guardedRoute, json, type Route } from '../route.ts';
import { SSE_HEADERS, sseText } from '../sse.ts';
import { JobPath } from './shapes.ts';

const Place = z.union([z.literal('now'), EventId], {
  error: ({ input }) =>
    Array.isArray(input) ? 'must stand once' : 'must be an event ID such as "1764500000000-0", or "now"',
});
const EventsQuery = EventFilterQuery.extend({
  after: Place.optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
});
const EventsHeaders = z.object({ accept: z.string().optional(), 'last-event-id': Place.optional() });

function wantsList(accept = ''): boolean {
  return accept.includes('application/json') && !accept.includes('text/event-stream');
}

/** Returns the route of a job's log: a live stream, or pages of it. `commentMs` is the longest silence. */
export function eventRoutes(service: Service, commentMs: number): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'followEvents',
      path: '/v1/jobs/:id/events',
      summary: 'Follow the events of a job (SSE), or list them with "Accept: application/json"',
      access: 'read',
      params: JobPath,
      query: EventsQuery,
      headers: EventsHeaders,
      answer: EventList,
      streams: 'text/event-stream',
      otherStatuses: [204],
      handler: async ({ params, query, headers }, caller): Promise<Answer<EventList>> => {
        const filter = { types: query.types, taskId: query.taskId };
        // A mistyped ID would wait for ever for what can't come.
        if (query.taskId !== undefined) await service.getTask(caller, params.id, query.taskId);
        if (wantsList(headers.accept)) {
          if (query.after === 'now') {
            throw new CrewboardError(
              'invalid_argument',
              '"after=now" is for the live stream: a list needs an event ID.',
              { path: 'after' },
            );
          }
          return json(
            await service.listEvents(caller, params.id, { after: query.after, filter }, query.limit),
          );
        }
        if (query.limit !== undefined) {
          throw new CrewboardError(
            'invalid_argument',
            '"limit" is for the list: send "Accept: application/json".',
            { path: 'limit' },
          );
        }
        // A browser that reconnects repeats the first URL and adds the header, so the header is the newer word.
        const after = headers['last-event-id'] ?? query.after;
        // Asked before the stream opens, so that a missing job is a 404.
        const job = await service.getJob(caller, params.id);
        const isOver =
          after === 'now'
            ? isEnded(job.status)
            : after !== undefined && (await service.isCaughtUp(caller, params.id, after));
        if (isOver) return { kind: 'empty' };
        return {
          kind: 'stream',
          contentType: 'text/event-stream; charset=utf-8',
          headers: SSE_HEADERS,
          cutsStuck: true,
          open: (signal) =>
            sseText(service.followEvents(caller, params.id, { after, filter }, signal), commentMs),
        };
      },
    }),
  ];
}
