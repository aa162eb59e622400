import { z } from 'zod';
import { JobLimits, JobStatus, ProjectName } from './job.ts';
import { Dependency, TaskKey } from './new-task.ts';

const count = z.number().int().nonnegative();

/** Answer of a submit with `dryRun`: what it would make. Nothing was stored. */
export const DryRunAnswer = z.strictObject({
  dryRun: z.literal(true),
  project: ProjectName,
  title: z.string(),
  /** What the submit would be answered. */
  status: JobStatus,
  /** As the job would count them; all are `held` while nothing may start. A lead plans more. */
  tasks: z.strictObject({ total: count, ready: count, waiting: count, held: count }),
  /** Of the ready ones those that would start at once: `maxParallel` at most, none of a job that waits for people. */
  startsAtOnce: count,
  /** The first tasks as they would stand on the board; dependencies by key. */
  first: z.array(
    z.strictObject({
      number: z.number().int().positive(),
      title: z.string(),
      key: TaskKey.optional(),
      dependsOn: z.array(Dependency.extend({ task: z.string() })),
    }),
  ),
  limits: JobLimits,
  /** Those that would be called: `lead` only with a goal, `worker` with one or with a task for an agent. */
  models: z.strictObject({ lead: z.string().optional(), worker: z.string().optional() }),
  /** Whether the simulated model would answer for the lead or for a task. */
  simulated: z.boolean(),
  warnings: z.array(z.string()),
});
export type DryRunAnswer = z.infer<typeof DryRunAnswer>;
