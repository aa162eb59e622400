import { z } from 'zod';
import { Attempt } from './claim.ts';
import { EventId, TaskId } from './ids.ts';
import { TaskChanges } from './new-task.ts';
import { Readiness, Task } from './task.ts';
import { FailureClass, TaskStatus } from './task-states.ts';
import { boundedText, requiredText } from './text.ts';

/** The version of the task that the caller saw last: another one is refused as stale. */
const version = z.number().int().positive();
const reason = boundedText(2048).optional();

/** `PATCH /v1/jobs/:id/tasks/:taskId`: new values; absent fields stay. */
export const EditBody = TaskChanges.extend({ version }).refine(
  (body) => Object.values(body).filter((value) => value !== undefined).length > 1,
  {
    message: 'needs a field to change besides version',
  },
);
export type EditBody = z.infer<typeof EditBody>;

/** The answer reaches the next attempt. */
export const UnblockBody = z.strictObject({ version, answer: requiredText(4096).optional() });
export type UnblockBody = z.infer<typeof UnblockBody>;
export const ApproveBody = z.strictObject({ version });
export type ApproveBody = z.infer<typeof ApproveBody>;
/** The text reaches the next attempt. */
export const RejectBody = z.strictObject({ version, text: requiredText(4096).optional() });
export type RejectBody = z.infer<typeof RejectBody>;

/** `dependents: "cancel"` takes all open tasks that can't be reached any more. */
export const CancelTaskBody = z.strictObject({
  version,
  reason,
  dependents: z.enum(['hold', 'cancel']).optional(),
});
export type CancelTaskBody = z.infer<typeof CancelTaskBody>;

/** Reopen and retry. */
export const ReopenBody = z.strictObject({ version, reason });
export type ReopenBody = z.infer<typeof ReopenBody>;

/** A task after a person's change, and what the change means that its fields do not say. */
export const ChangedTask = Task.extend({ warnings: z.array(z.string()).optional() });
export type ChangedTask = z.infer<typeof ChangedTask>;

/** The task, and its dependents that have started on its earlier result. */
export const ReopenAnswer = ChangedTask.extend({ startedDependents: z.array(TaskId) });
export type ReopenAnswer = z.infer<typeof ReopenAnswer>;

/** A page of a task's attempts, the first one first. */
export const AttemptList = z.strictObject({
  attempts: z.array(Attempt),
  nextCursor: z.string().optional(),
  asOf: EventId.optional(),
});
export type AttemptList = z.infer<typeof AttemptList>;
export const AttemptListQuery = z.strictObject({
  cursor: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
});
export type AttemptListQuery = z.infer<typeof AttemptListQuery>;

/** Why a task is where it is: one line, and the tasks that it is because of, root causes first. */
export const Why = z.strictObject({
  text: z.string(),
  readiness: Readiness.optional(),
  because: z.array(
    z.strictObject({
      taskId: TaskId,
      title: z.string(),
      status: TaskStatus,
      class: FailureClass.optional(),
    }),
  ),
});
export type Why = z.infer<typeof Why>;
