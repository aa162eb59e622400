import { z } from 'zod';
import { TaskId } from './ids.ts';
import { JsonValue } from './json.ts';
import { Task, TaskFailure } from './task.ts';
import { AttemptOutcome, FailureClass, Owner, ParkCause, TaskStatus } from './task-states.ts';
import { PaidUsage } from './usage.ts';

/** One attempt of a task, as claims and attempts lists show it. */
export const Attempt = z.strictObject({
  attempt: z.number().int().positive(),
  owner: Owner,
  startedAt: z.string(),
  endedAt: z.string().optional(),
  outcome: AttemptOutcome.optional(),
  class: FailureClass.optional(),
  /** Of a park that was not the attempt's doing; absent in records of before there were causes. */
  cause: ParkCause.optional(),
  reason: z.string().optional(),
  answer: z.string().optional(),
  /** Of its model calls; absent when it made none. */
  usage: PaidUsage.optional(),
});
export type Attempt = z.infer<typeof Attempt>;

/** What a holder gets with its claim (DESIGN section 18). */
export const Claim = z.strictObject({
  task: Task,
  claimToken: z.string(),
  leaseUntil: z.string().optional(),
  attempt: z.number().int().positive(),
  dependencies: z.array(
    z.strictObject({
      taskId: TaskId,
      title: z.string(),
      status: TaskStatus,
      summary: z.string().optional(),
      output: JsonValue.optional(),
      artifacts: z.array(z.string()),
      failure: TaskFailure.optional(),
    }),
  ),
  moreDependencies: z.number().int().nonnegative(),
  earlierAttempts: z.array(
    z.strictObject({
      attempt: z.number().int().positive(),
      outcome: AttemptOutcome,
      class: FailureClass.optional(),
      reason: z.string().optional(),
      answer: z.string().optional(),
    }),
  ),
});
export type Claim = z.infer<typeof Claim>;
