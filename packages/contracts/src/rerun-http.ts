import { z } from 'zod';
import { JobId } from './ids.ts';
import { JobLinks, JobStatus } from './job.ts';
import { FailureClass } from './task-states.ts';
import { requiredText } from './text.ts';

const label = z.string().min(1).max(64);

/** Which ended tasks a rerun takes: all conditions at once; of several labels a task has all. */
export const RerunWhere = z
  .strictObject({
    status: z.enum(['completed', 'failed', 'cancelled']).optional(),
    label: z.union([label, z.array(label).min(1).max(20)]).optional(),
    /** A pattern for the whole key: `*` stands for any characters, `?` for one. */
    key: requiredText(200).optional(),
    class: FailureClass.optional(),
  })
  .refine((where) => Object.values(where).some((value) => value !== undefined), {
    message: 'needs at least one of status, label, key and class',
  });
export type RerunWhere = z.infer<typeof RerunWhere>;

/** `POST /v1/jobs/:id/rerun`. */
export const RerunBody = z.strictObject({
  where: RerunWhere,
  /** Stands below the tasks' own instructions from then on. */
  instructions: requiredText(8192).optional(),
  /** Refused with `stale_version` when another number of tasks matches. */
  expectCount: z.number().int().nonnegative().optional(),
});
export type RerunBody = z.infer<typeof RerunBody>;

/** How many tasks matched; 0: nothing was changed. They are opened again one after the other. */
export const RerunAnswer = z.strictObject({
  jobId: JobId,
  matched: z.number().int().nonnegative(),
  status: JobStatus,
  links: JobLinks,
});
export type RerunAnswer = z.infer<typeof RerunAnswer>;
