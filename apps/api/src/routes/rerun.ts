import { RerunAnswer, RerunBody } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { IdempotencyHeaders, JobPath } from './shapes.ts';

/** Returns the route by which people run many tasks of a job again. */
export function rerunRoutes(service: Service): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'POST',
      name: 'rerunTasks',
      path: '/v1/jobs/:id/rerun',
      summary: 'Run the ended tasks that match again; the others stay as they are',
      access: 'submit',
      params: JobPath,
      headers: IdempotencyHeaders,
      body: RerunBody,
      example: {
        where: { status: 'failed', class: 'check' },
        instructions: 'Amounts are in euros',
        expectCount: 30,
      },
      answer: RerunAnswer,
      handler: async ({ params, headers, body }, caller) =>
        json(await service.rerunTasks(caller, params.id, body, headers['idempotency-key'])),
    }),
  ];
}
