import {
  BlockBody,
  ClaimAnswer,
  ClaimBody,
  FailBody,
  HeartbeatAnswer,
  HeartbeatBody,
  HolderAnswer,
  NoteBody,
  ReleaseBody,
  SubmitBody,
} from '@crewboard/contracts';
import type { HolderCalls, Scope, Service } from '@crewboard/orchestrator';
import type { z } from 'zod';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { JobPath, TaskPath } from './shapes.ts';

const claimToken = '1-3k9fXw2m…';

/** The route of one call of a holder, which is answered the task. */
function holderRoute<Body>(
  action: string,
  summary: string,
  body: z.ZodType<Body>,
  example: NoInfer<Body>,
  call: (scope: Scope, jobId: string, taskId: string, body: Body) => ReturnType<HolderCalls['noteTask']>,
): Route {
  return guardedRoute({
    ...BARE,
    method: 'POST',
    name: `${action}Task`,
    path: `/v1/jobs/:id/tasks/:taskId/${action}`,
    summary,
    access: 'worker',
    params: TaskPath,
    body,
    example,
    answer: HolderAnswer,
    handler: async (parts, caller) =>
      json(await call(caller, parts.params.id, parts.params.taskId, parts.body)),
  });
}

function claimRoute(service: Service): Route {
  return guardedRoute({
    ...BARE,
    method: 'POST',
    name: 'claimTask',
    path: '/v1/jobs/:id/tasks/claim',
    summary: 'Claim a task; "task" is null when none is ready',
    access: 'worker',
    params: JobPath,
    body: ClaimBody,
    example: { taskId: 't_4kx9m2ab', owner: 'laptop-7', leaseMs: 600_000 },
    answer: ClaimAnswer,
    handler: async ({ params, body }, caller) => json(await service.claimTask(caller, params.id, body)),
  });
}

function heartbeatRoute(service: Service): Route {
  return guardedRoute({
    ...BARE,
    method: 'POST',
    name: 'heartbeatTask',
    path: '/v1/jobs/:id/tasks/:taskId/heartbeat',
    summary: 'Extend the lease of a claim',
    access: 'worker',
    params: TaskPath,
    body: HeartbeatBody,
    example: { claimToken, leaseMs: 600_000 },
    answer: HeartbeatAnswer,
    handler: async ({ params, body }, caller) =>
      json(await service.heartbeatTask(caller, params.id, params.taskId, body)),
  });
}

/** Returns the routes of those who work on tasks from outside: claim, and the calls of the claim's holder. */
export function holderRoutes(service: Service): Route[] {
  return [
    claimRoute(service),
    heartbeatRoute(service),
    holderRoute(
      'note',
      'Log a note on the held task',
      NoteBody,
      { claimToken, text: 'Half of the files are done', progress: '5/10' },
      service.noteTask,
    ),
    holderRoute(
      'submit',
      'Submit the result of the held task',
      SubmitBody,
      { claimToken, version: 2, summary: 'Translated all 12 pages' },
      service.submitTask,
    ),
    holderRoute(
      'block',
      'Stop the held task until somebody answers, or until another task is done',
      BlockBody,
      { claimToken, kind: 'needs_input', reason: 'The glossary is missing', question: 'Where is it?' },
      service.blockTask,
    ),
    holderRoute(
      'fail',
      'Give the held task up as failed',
      FailBody,
      { claimToken, reason: 'The page has no text', retryable: false },
      service.failTask,
    ),
    holderRoute('release', 'Give the held task back', ReleaseBody, { claimToken }, service.releaseTask),
  ];
}
