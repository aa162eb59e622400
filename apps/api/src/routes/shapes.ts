import { JobId, TaskId } from '@crewboard/contracts';
import { z } from 'zod';

export const JobPath = z.strictObject({ id: JobId });
export const TaskPath = z.strictObject({ id: JobId, taskId: TaskId });

/** Headers of a POST by people: the same key twice is the same request. */
export const IdempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters')
    .optional(),
});
