import { z } from 'zod';
import { JobLimitsInput } from './job.ts';
import { boundedText } from './text.ts';

/** `POST /v1/jobs/:id/{pause,resume}`. */
export const PauseBody = z.strictObject({ reason: boundedText(2048).optional() });
export type PauseBody = z.infer<typeof PauseBody>;

/** `POST /v1/jobs/:id/start`: there is nothing to say. */
export const StartBody = z.strictObject({});

const { jobTimeoutMs, maxFailures, budgetUsd, budgetTokens } = JobLimitsInput.shape;

/** New limits of a job: absent ones stay, `null` takes one away that a job need not have. */
export const JobLimitsPatch = JobLimitsInput.extend({
  jobTimeoutMs: jobTimeoutMs.nullable(),
  maxFailures: maxFailures.nullable(),
  budgetUsd: budgetUsd.nullable(),
  budgetTokens: budgetTokens.nullable(),
});
export type JobLimitsPatch = z.infer<typeof JobLimitsPatch>;

/** `PATCH /v1/jobs/:id`, at the version of the job that was seen. */
export const EditJobBody = z.strictObject({
  version: z.number().int().positive(),
  limits: JobLimitsPatch.refine((limits) => Object.values(limits).some((value) => value !== undefined), {
    message: 'needs at least one limit',
  }),
});
export type EditJobBody = z.infer<typeof EditJobBody>;
