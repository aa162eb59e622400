import { EditJobBody, Job, PauseBody, StartBody } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { JobPath, SAMPLE_VERSION } from './shapes.ts';

/** Returns the routes of what people do with a running job: pause, resume, new limits; and the start of a held one. */
export function jobControlRoutes(service: Service): Route[] {
  const onJob = { ...BARE, access: 'submit', params: JobPath, answer: Job } as const;
  return [
    guardedRoute({
      ...onJob,
      method: 'POST',
      name: 'pauseJob',
      path: '/v1/jobs/:id/pause',
      summary: 'Pause a job: nothing new starts, agents stop after their current call',
      body: PauseBody.optional(),
      example: { reason: 'The sources are being moved' },
      handler: async ({ params, body }, caller) =>
        json(await service.pauseJob(caller, params.id, body?.reason)),
    }),
    guardedRoute({
      ...onJob,
      method: 'POST',
      name: 'resumeJob',
      path: '/v1/jobs/:id/resume',
      summary: 'Lift every cause of a pause',
      body: PauseBody.optional(),
      example: { reason: 'They are in place' },
      handler: async ({ params, body }, caller) =>
        json(await service.resumeJob(caller, params.id, body?.reason)),
    }),
    guardedRoute({
      ...onJob,
      method: 'PATCH',
      name: 'editJob',
      path: '/v1/jobs/:id',
      summary: "Change a job's limits",
      body: EditJobBody,
      example: { version: SAMPLE_VERSION, limits: { maxParallel: 16 } },
      handler: async ({ params, body }, caller) => json(await service.editJob(caller, params.id, body)),
    }),
    guardedRoute({
      ...onJob,
      method: 'POST',
      name: 'startJob',
      path: '/v1/jobs/:id/start',
      summary: 'Start a job that was submitted with hold',
      body: StartBody.optional(),
      example: {},
      handler: async ({ params }, caller) => json(await service.startJob(caller, params.id)),
    }),
  ];
}
