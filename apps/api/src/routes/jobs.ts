import {
  CancelBody,
  DryRunAnswer,
  Job,
  JobBody,
  JobList,
  JobListQuery,
  SubmitAnswer,
} from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { z } from 'zod';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { IdempotencyHeaders, JobPath } from './shapes.ts';

/** Returns the routes of jobs: submit, list, read, cancel, delete. */
export function jobRoutes(service: Service): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'POST',
      name: 'submitJob',
      path: '/v1/jobs',
      summary: 'Submit a job',
      access: 'submit',
      headers: IdempotencyHeaders,
      body: JobBody,
      example: { goal: 'Write a summary of every file in docs/', workspace: { path: '/srv/project' } },
      answer: z.union([SubmitAnswer, DryRunAnswer]),
      status: 202,
      otherStatuses: [200],
      // A dry run stores nothing, and is answered 200.
      handler: async ({ body, headers }, caller) => {
        const key = headers['idempotency-key'];
        if (body.dryRun === true) return json(await service.dryRunJob(caller, body, key), 200);
        return json(await service.submitJob(caller, body, key));
      },
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'listJobs',
      path: '/v1/jobs',
      summary: 'List jobs, newest first',
      access: 'read',
      query: JobListQuery,
      answer: JobList,
      handler: async ({ query }, caller) => json(await service.listJobs(caller, query)),
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'readJob',
      path: '/v1/jobs/:id',
      summary: 'Read a job: status, counts, spend',
      access: 'read',
      params: JobPath,
      answer: Job,
      handler: async ({ params }, caller) => json(await service.getJob(caller, params.id)),
    }),
    guardedRoute({
      ...BARE,
      method: 'POST',
      name: 'cancelJob',
      path: '/v1/jobs/:id/cancel',
      summary: 'Cancel a job',
      access: 'submit',
      params: JobPath,
      headers: IdempotencyHeaders,
      body: CancelBody.optional(),
      example: { reason: 'No longer needed' },
      answer: Job,
      handler: async ({ params, body, headers }, caller) =>
        json(await service.cancelJob(caller, params.id, body?.reason, headers['idempotency-key'])),
    }),
    guardedRoute({
      ...BARE,
      method: 'DELETE',
      name: 'deleteJob',
      path: '/v1/jobs/:id',
      summary: 'Delete an ended job with everything that is kept of it',
      access: 'submit',
      params: JobPath,
      answer: z.undefined(),
      status: 204,
      handler: async ({ params }, caller) => {
        await service.deleteJob(caller, params.id);
        return { kind: 'empty' };
      },
    }),
  ];
}
