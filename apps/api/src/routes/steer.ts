import { ApprovePlanBody, Job, MessageAnswer, MessageBody, RejectPlanBody } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { IdempotencyHeaders, JobPath, SAMPLE_VERSION } from './shapes.ts';

/** Returns the routes by which people steer a job: messages, and the decision on a plan. */
export function steerRoutes(service: Service): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'POST',
      name: 'sendMessage',
      path: '/v1/jobs/:id/messages',
      summary: 'Tell the lead, or the agent of a task, something',
      access: 'submit',
      params: JobPath,
      headers: IdempotencyHeaders,
      body: MessageBody,
      example: { text: 'Leave the generated files out', target: 'lead' },
      answer: MessageAnswer,
      status: 202,
      handler: async ({ params, headers, body }, caller) =>
        json(await service.sendMessage(caller, params.id, body, headers['idempotency-key'])),
    }),
    guardedRoute({
      ...BARE,
      method: 'POST',
      name: 'approvePlan',
      path: '/v1/jobs/:id/plan/approve',
      summary: 'Approve the plan that waits: its tasks may start',
      access: 'submit',
      params: JobPath,
      headers: IdempotencyHeaders,
      body: ApprovePlanBody.optional(),
      example: { version: SAMPLE_VERSION },
      answer: Job,
      handler: async ({ params, headers, body }, caller) =>
        json(await service.approvePlan(caller, params.id, body ?? {}, headers['idempotency-key'])),
    }),
    guardedRoute({
      ...BARE,
      method: 'POST',
      name: 'rejectPlan',
      path: '/v1/jobs/:id/plan/reject',
      summary: 'Reject the plan that waits: the lead plans again, a job without one is cancelled',
      access: 'submit',
      params: JobPath,
      headers: IdempotencyHeaders,
      body: RejectPlanBody.optional(),
      example: { version: SAMPLE_VERSION, text: 'One task a folder, not a file' },
      answer: Job,
      handler: async ({ params, headers, body }, caller) =>
        json(await service.rejectPlan(caller, params.id, body ?? {}, headers['idempotency-key'])),
    }),
  ];
}
