import { JobId } from '@crewboard/contracts';
import { z } from 'zod';

export const JobPath = z.strictObject({ id: JobId });
/** A task ID of the wrong shape is looked for all the same: its answer names IDs that are near. */
export const TaskPath = z.strictObject({ id: JobId, taskId: z.string().min(1).max(100) });

/** Nothing stands at it: a sample that is sent as it stands is stale, and changes nothing. */
export const SAMPLE_VERSION = 1_000_000;

/** Headers of a POST by people: the same key twice is the same request. */
export const IdempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters')
    .optional(),
});
