import {
  ApproveBody,
  AttemptList,
  AttemptListQuery,
  CancelTaskBody,
  ChangedTask,
  EditBody,
  RejectBody,
  ReopenAnswer,
  ReopenBody,
  Task,
  TranscriptPage,
  UnblockBody,
  Why,
} from '@crewboard/contracts';
import type { Service, TaskDecision } from '@crewboard/orchestrator';
import type { z } from 'zod';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { IdempotencyHeaders, JobPath, SAMPLE_VERSION, TaskPath } from './shapes.ts';

const TASK = '/v1/jobs/:id/tasks/:taskId';

function editRoute(service: Service): Route {
  return guardedRoute({
    ...BARE,
    method: 'PATCH',
    name: 'editTask',
    path: TASK,
    summary: 'Change what a task is',
    access: 'submit',
    params: TaskPath,
    body: EditBody,
    example: { version: SAMPLE_VERSION, priority: 1 },
    answer: ChangedTask,
    handler: async ({ params, body }, caller) =>
      json(await service.editTask(caller, params.id, params.taskId, body)),
  });
}

/** The route of one decision; `toDecision` says what its body means. */
function decisionRoute<Body>(
  service: Service,
  decision: TaskDecision['decision'],
  summary: string,
  body: z.ZodType<Body>,
  example: NoInfer<Body>,
  toDecision: (body: Body) => Omit<TaskDecision, 'decision'>,
): Route {
  return guardedRoute({
    ...BARE,
    method: 'POST',
    name: `${decision}Task`,
    path: `${TASK}/${decision}`,
    summary,
    access: 'submit',
    params: TaskPath,
    headers: IdempotencyHeaders,
    body,
    example,
    answer: ChangedTask,
    handler: async ({ params, headers, body: given }, caller) => {
      const made = { ...toDecision(given), decision };
      const key = headers['idempotency-key'];
      return json(await service.decideTask(caller, params.id, params.taskId, made, key));
    },
  });
}

function cancelRoute(service: Service): Route {
  return guardedRoute({
    ...BARE,
    method: 'POST',
    name: 'cancelTask',
    path: `${TASK}/cancel`,
    summary: 'Cancel a task, and if asked for what depends on it',
    access: 'submit',
    params: TaskPath,
    headers: IdempotencyHeaders,
    body: CancelTaskBody,
    example: { version: SAMPLE_VERSION, reason: 'No longer needed' },
    answer: Task,
    handler: async ({ params, headers, body }, caller) =>
      json(await service.cancelTask(caller, params.id, params.taskId, body, headers['idempotency-key'])),
  });
}

function reopenRoute(service: Service, action: 'reopen' | 'retry', summary: string): Route {
  return guardedRoute({
    ...BARE,
    method: 'POST',
    name: `${action}Task`,
    path: `${TASK}/${action}`,
    summary,
    access: 'submit',
    params: TaskPath,
    headers: IdempotencyHeaders,
    body: ReopenBody,
    example: { version: SAMPLE_VERSION, reason: 'The source has changed' },
    answer: ReopenAnswer,
    handler: async ({ params, headers, body }, caller) => {
      const key = headers['idempotency-key'];
      return json(await service.reopenTask(caller, params.id, params.taskId, { ...body, action }, key));
    },
  });
}

function readRoutes(service: Service): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'listAttempts',
      path: `${TASK}/attempts`,
      summary: 'List the attempts of a task',
      access: 'read',
      params: TaskPath,
      query: AttemptListQuery,
      answer: AttemptList,
      handler: async ({ params, query }, caller) =>
        json(await service.listAttempts(caller, params.id, params.taskId, query)),
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'readTranscript',
      path: `${TASK}/transcript`,
      summary: 'Read the conversation of a task, without anything that looks like a key',
      access: 'read',
      params: TaskPath,
      query: AttemptListQuery,
      answer: TranscriptPage,
      handler: async ({ params, query }, caller) =>
        json(await service.readTranscript(caller, params.id, params.taskId, query)),
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'readLeadTranscript',
      path: '/v1/jobs/:id/transcript',
      summary: "Read the lead's conversation, without anything that looks like a key",
      access: 'read',
      params: JobPath,
      query: AttemptListQuery,
      answer: TranscriptPage,
      handler: async ({ params, query }, caller) =>
        json(await service.readTranscript(caller, params.id, undefined, query)),
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'explainTask',
      path: `${TASK}/why`,
      summary: 'Say why a task is where it is',
      access: 'read',
      params: TaskPath,
      answer: Why,
      handler: async ({ params }, caller) =>
        json(await service.explainTask(caller, params.id, params.taskId)),
    }),
  ];
}

/** Returns the routes of what people do with tasks: edit, decide, cancel, reopen, and ask why. */
export function personRoutes(service: Service): Route[] {
  return [
    editRoute(service),
    decisionRoute(
      service,
      'unblock',
      'Answer a blocked task',
      UnblockBody,
      { version: SAMPLE_VERSION, answer: 'It is in docs/glossary.md' },
      ({ version, answer }) => ({ version, text: answer }),
    ),
    decisionRoute(
      service,
      'approve',
      'Approve a review or a proposal',
      ApproveBody,
      { version: SAMPLE_VERSION },
      (body) => body,
    ),
    decisionRoute(
      service,
      'reject',
      'Reject a review or a proposal',
      RejectBody,
      { version: SAMPLE_VERSION, text: 'The sources are missing' },
      (body) => body,
    ),
    cancelRoute(service),
    reopenRoute(service, 'reopen', 'Open an ended task again'),
    reopenRoute(service, 'retry', 'Try a failed task again'),
    ...readRoutes(service),
  ];
}
