import { z } from 'zod';
import { JobId } from './ids.ts';
import { boundedJson, JsonValue } from './json.ts';
import { NewTask } from './new-task.ts';
import { boundedText, requiredText, titleText } from './text.ts';
import { BudgetUsd, Spend } from './usage.ts';

export const JOB_STATUSES = [
  'accepting',
  'planning',
  'awaiting_approval',
  'running',
  'paused',
  'succeeded',
  'partial',
  'failed',
  'cancelled',
] as const;
export const JobStatus = z.enum(JOB_STATUSES);
export type JobStatus = z.infer<typeof JobStatus>;

export const ENDED_STATUSES: readonly JobStatus[] = ['succeeded', 'partial', 'failed', 'cancelled'];

/** True for succeeded, partial, failed and cancelled. */
export function isEnded(status: JobStatus): boolean {
  return ENDED_STATUSES.includes(status);
}

export const PauseCause = z.enum(['user', 'budget', 'stall', 'provider', 'failures']);
export type PauseCause = z.infer<typeof PauseCause>;

const int = (min: number, max: number) => z.number().int().min(min).max(max);

/** A job's limits as submitted; absent ones take {@link DEFAULT_LIMITS}. */
export const JobLimitsInput = z.strictObject({
  maxParallel: int(1, 10_000).optional(),
  maxTasks: int(1, 1_000_000).optional(),
  maxAttempts: int(1, 100).optional(),
  maxTurns: int(1, 1000).optional(),
  taskTimeoutMs: int(1000, 86_400_000).optional(),
  jobTimeoutMs: int(1000, 31_536_000_000).optional(),
  budgetUsd: BudgetUsd.optional(),
  budgetTokens: int(1, Number.MAX_SAFE_INTEGER).optional(),
  onLimit: z.enum(['pause', 'finish', 'fail']).optional(),
  maxFailures: int(1, 1_000_000).optional(),
  maxLeadRuns: int(1, 10_000).optional(),
});
export type JobLimitsInput = z.infer<typeof JobLimitsInput>;

/** A job's limits in force (DESIGN section 12). */
export const JobLimits = z.strictObject({
  maxParallel: int(1, 10_000),
  maxTasks: int(1, 1_000_000),
  maxAttempts: int(1, 100),
  maxTurns: int(1, 1000),
  taskTimeoutMs: int(1000, 86_400_000),
  jobTimeoutMs: int(1000, 31_536_000_000).optional(),
  budgetUsd: BudgetUsd.optional(),
  budgetTokens: int(1, Number.MAX_SAFE_INTEGER).optional(),
  onLimit: z.enum(['pause', 'finish', 'fail']),
  maxFailures: int(1, 1_000_000).optional(),
  maxLeadRuns: int(1, 10_000),
});
export type JobLimits = z.infer<typeof JobLimits>;

export const DEFAULT_LIMITS: JobLimits = {
  maxParallel: 8,
  maxTasks: 10_000,
  maxAttempts: 3,
  maxTurns: 50,
  taskTimeoutMs: 1_800_000,
  onLimit: 'pause',
  maxLeadRuns: 50,
};

export const ProjectName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be lower-case letters, digits, ".", "_" or "-", at most 64');

/** The work tools a job may allow its agents. */
export const WorkToolName = z.enum([
  'read_file',
  'list_files',
  'search_files',
  'write_file',
  'edit_file',
  'run_command',
]);
export type WorkToolName = z.infer<typeof WorkToolName>;

/** The body of `POST /v1/jobs`: at least one of goal, tasks and map. */
export const JobBody = z
  .strictObject({
    title: titleText().optional(),
    goal: requiredText(65_536).optional(),
    tasks: z.array(NewTask).min(1).optional(),
    map: z
      .strictObject({ items: z.array(boundedJson(65_536)).min(1).max(100_000), task: NewTask })
      .optional(),
    project: ProjectName.optional(),
    workspace: z.strictObject({ path: requiredText(4096) }).optional(),
    plan: z.strictObject({ approve: z.boolean().optional() }).optional(),
    models: z
      .strictObject({
        lead: requiredText(200).optional(),
        worker: requiredText(200).optional(),
        judge: requiredText(200).optional(),
      })
      .optional(),
    limits: JobLimitsInput.optional(),
    allowParallelInProgress: z.boolean().optional(),
    tools: z.array(WorkToolName).max(20).optional(),
    outputSchema: z.record(z.string(), JsonValue).optional(),
    hold: z.boolean().optional(),
    dryRun: z.boolean().optional(),
    metadata: boundedJson(16_384).optional(),
  })
  .refine((body) => body.goal !== undefined || body.tasks !== undefined || body.map !== undefined, {
    message: 'needs at least one of goal, tasks and map',
  });
export type JobBody = z.infer<typeof JobBody>;

const count = z.number().int().nonnegative();

/** The first seven after `total` add up to it, the last five to `pending`. */
export const Counts = z.strictObject({
  total: count,
  pending: count,
  in_progress: count,
  in_review: count,
  blocked: count,
  completed: count,
  failed: count,
  cancelled: count,
  ready: count,
  waiting: count,
  scheduled: count,
  unreachable: count,
  held: count,
});
export type Counts = z.infer<typeof Counts>;

export const JobLinks = z.strictObject({
  self: z.string(),
  tasks: z.string(),
  events: z.string(),
  result: z.string(),
});

export type JobLinks = z.infer<typeof JobLinks>;

/** A plan that waits for a person's approval, and that approve and reject name by its version. */
export const JobPlan = z.strictObject({
  version: z.number().int().positive(),
  /** What the lead says of it. */
  text: z.string().optional(),
  /** The tasks that approval adds; those that stand on the board already belong to the plan, too. */
  tasks: z.array(NewTask),
});
export type JobPlan = z.infer<typeof JobPlan>;

/** A job as every reader sees it (DESIGN section 18). */
export const Job = z.strictObject({
  id: JobId,
  project: ProjectName,
  title: z.string(),
  goal: z.string().optional(),
  status: JobStatus,
  statusReason: z.string().optional(),
  pauses: z.array(PauseCause),
  version: z.number().int().positive(),
  counts: Counts,
  spend: Spend,
  limits: JobLimits,
  /** True when the simulated model has answered, or a lead is still to ask it; never for commands and external tasks. */
  simulated: z.boolean(),
  /** While it awaits approval; lists leave it out. */
  plan: JobPlan.optional(),
  createdAt: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  links: JobLinks,
});
export type Job = z.infer<typeof Job>;

/** `GET /v1/jobs/:id/result`: partial at any time. */
export const JobResult = z.strictObject({
  jobId: JobId,
  status: JobStatus,
  summary: z.string().optional(),
  output: JsonValue.optional(),
  counts: Counts,
  spend: Spend,
  /** True when the simulated model answered: nobody may take it for a real result. */
  simulated: z.boolean(),
});
export type JobResult = z.infer<typeof JobResult>;

/** The job's fixed settings as stored with the board (format version `v`). */
export const JobSpec = z.strictObject({
  v: z.literal(1),
  id: JobId,
  project: ProjectName,
  title: z.string(),
  goal: z.string().optional(),
  workspace: z.strictObject({ path: z.string() }).optional(),
  models: z.strictObject({ lead: z.string(), worker: z.string() }),
  limits: JobLimits,
  allowParallelInProgress: z.boolean(),
  tools: z.array(WorkToolName),
  /** What the lead's output of the job must fit. */
  outputSchema: z.record(z.string(), JsonValue).optional(),
  provider: z.enum(['anthropic', 'simulated']),
  /** A person approves the plan before any task starts. */
  plan: z.strictObject({ approve: z.literal(true) }).optional(),
  metadata: JsonValue.optional(),
  createdBy: boundedText(200),
});
export type JobSpec = z.infer<typeof JobSpec>;
