import { z } from 'zod';
import { EventId, JobId, TaskId } from './ids.ts';
import { JsonValue } from './json.ts';
import { Actor, TaskStatus } from './task-states.ts';

export const EVENT_TYPES = [
  'job.submitted',
  'job.planning',
  'job.running',
  'job.paused',
  'job.resumed',
  'job.edited',
  'job.succeeded',
  'job.partial',
  'job.failed',
  'job.cancelled',
  'job.reopened',
  'plan.proposed',
  'plan.approved',
  'plan.rejected',
  'task.added',
  'task.edited',
  'task.claimed',
  'task.noted',
  'task.progress',
  'task.submitted',
  'task.checked',
  'task.completed',
  'task.failed',
  'task.blocked',
  'task.unblocked',
  'task.released',
  'task.parked',
  'task.expired',
  'task.cancelled',
  'task.reopened',
  'task.unreachable',
  'task.proposed',
  'message.accepted',
  'message.delivered',
  'message.expired',
] as const;
export const EventType = z.union([
  z.enum(EVENT_TYPES),
  z.templateLiteral(['budget.', z.string()]),
  z.templateLiteral(['rate.', z.string()]),
]);
export type EventType = z.infer<typeof EventType>;

export const TERMINAL_EVENT_TYPES: readonly EventType[] = [
  'job.succeeded',
  'job.partial',
  'job.failed',
  'job.cancelled',
];

/** The event format that this version writes; a newer one is refused by readers. */
export const EVENT_FORMAT = 1;

/** One entry of a board's log; status, version, attempt and owner are those after the change. */
export const BoardEvent = z.looseObject({
  v: z.number().int().min(1).max(EVENT_FORMAT),
  id: EventId,
  at: z.string(),
  type: EventType,
  jobId: JobId,
  taskId: TaskId.optional(),
  attempt: z.number().int().nonnegative().optional(),
  by: Actor,
  status: TaskStatus.optional(),
  version: z.number().int().positive().optional(),
  data: z.record(z.string(), JsonValue).optional(),
});
export type BoardEvent = z.infer<typeof BoardEvent>;
