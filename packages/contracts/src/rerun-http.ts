import { z } from 'zod';
import { JobId, TaskId } from './ids.ts';
import { JobStatus } from './job.ts';
import { FailureClass, TaskStatus } from './task-states.ts';
import { requiredText } from './text.ts';

const EndedTaskStatus = TaskStatus.extract(['completed', 'failed', 'cancelled']);
const label = requiredText(64);

/** Which ended tasks are run again: those that all conditions name. */
export const RerunWhere = z
  .strictObject({
    /** One status, or any of a list; absent: however they ended. */
    status: z.union([EndedTaskStatus, z.array(EndedTaskStatus).min(1).max(3)]).optional(),
    /** Several labels mean all of them. */
    label: z.union([label, z.array(label).min(1).max(20)]).optional(),
    /** A pattern for the whole key: `*` stands for any characters, `?` for one. */
    key: requiredText(200).optional(),
    /** The class of the failure. */
    class: FailureClass.optional(),
  })
  .refine(
    (where) => Object.values(where).some((value) => value !== undefined),
    'must name at least one of status, label, key and class ({"key": "*"} means every task that has a key)',
  );
export type RerunWhere = z.infer<typeof RerunWhere>;

/** `POST /v1/jobs/:id/rerun`. */
export const RerunBody = z.strictObject({
  where: RerunWhere,
  /** What the next attempts are told besides the task's own instructions; that of the last rerun stands. */
  instructions: requiredText(4096).optional(),
  /** How many tasks must match; else nothing is changed. */
  expectCount: z.number().int().min(1).max(1_000_000).optional(),
});
export type RerunBody = z.infer<typeof RerunBody>;

/** How far a rerun is. `reopened`, `skipped` and `left` add up to `matched`. */
export const RerunAnswer = z.strictObject({
  jobId: JobId,
  status: JobStatus,
  /** The number of this rerun among those of the job. */
  rerun: z.number().int().positive(),
  matched: z.number().int().positive(),
  /** Tasks that are pending again. */
  reopened: z.number().int().nonnegative(),
  /** Tasks that somebody changed in the meantime, and that were left as they are. */
  skipped: z.number().int().nonnegative(),
  /** Tasks that follow by themselves in the next moments. */
  left: z.number().int().nonnegative(),
  /** Dependents that have started on an earlier result and are not run again; at most 100 of them. */
  startedDependents: z.array(TaskId),
});
export type RerunAnswer = z.infer<typeof RerunAnswer>;
