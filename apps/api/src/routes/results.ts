import { JobResult, ResultLine } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { JobPath } from './shapes.ts';

async function* toLines(results: AsyncIterable<ResultLine>, signal: AbortSignal): AsyncGenerator<string> {
  for await (const result of results) {
    if (signal.aborted) return;
    yield `${JSON.stringify(result)}\n`;
  }
}

/** Returns the routes of results: the job's, and one line a task; partial at any time. */
export function resultRoutes(service: Service): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'readResult',
      path: '/v1/jobs/:id/result',
      summary: 'Read the result of a job',
      access: 'read',
      params: JobPath,
      answer: JobResult,
      handler: async ({ params }, caller) => json(await service.getResult(caller, params.id)),
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'downloadResults',
      path: '/v1/jobs/:id/results.jsonl',
      summary: 'Download one line of JSON a task, in plan order',
      access: 'read',
      params: JobPath,
      answer: ResultLine,
      streams: 'application/x-ndjson',
      handler: async ({ params }, caller) => {
        // Asked before the stream opens, so that a missing job is a 404.
        await service.getJob(caller, params.id);
        return {
          kind: 'stream',
          contentType: 'application/x-ndjson; charset=utf-8',
          headers: {},
          open: (signal) => toLines(service.resultLines(caller, params.id), signal),
        };
      },
    }),
  ];
}
