import { z } from 'zod';
import { JobId, TaskId } from './ids.ts';
import { boundedJson, JsonValue } from './json.ts';
import { boundedText, isBlank, isCleanText, requiredText, titleText } from './text.ts';
import { BudgetUsd, PaidUsage } from './usage.ts';

export const TASK_STATUSES = [
  'pending',
  'in_progress',
  'in_review',
  'blocked',
  'completed',
  'failed',
  'cancelled',
] as const;
export const TaskStatus = z.enum(TASK_STATUSES);
export type TaskStatus = z.infer<typeof TaskStatus>;

/** Statuses that a task leaves only by reopen or retry. */
export const TERMINAL_STATUSES: readonly TaskStatus[] = ['completed', 'failed', 'cancelled'];

/** True for completed, failed and cancelled. */
export function isTerminal(status: TaskStatus): boolean {
  return TERMINAL_STATUSES.includes(status);
}

export const Policy = z.enum(['none', 'evidence', 'checked', 'approved']);
export type Policy = z.infer<typeof Policy>;
export const Executor = z.enum(['agent', 'command', 'external', 'human']);
export type Executor = z.infer<typeof Executor>;
export const Condition = z.enum(['completed', 'settled']);
export type Condition = z.infer<typeof Condition>;
export const OwnerKind = z.enum(['lead', 'sub-agent', 'human', 'external']);
export type OwnerKind = z.infer<typeof OwnerKind>;

/** Who holds a task. */
export const Owner = z.strictObject({ kind: OwnerKind, id: requiredText(200) });
export type Owner = z.infer<typeof Owner>;

/** Who did something: an owner's kind and ID, or the harness itself. */
export const Actor = z.strictObject({
  kind: z.enum([...OwnerKind.options, 'user', 'harness']),
  id: requiredText(200),
});
export type Actor = z.infer<typeof Actor>;

export const FAILURE_CLASSES = [
  'model',
  'check',
  'refused',
  'truncated',
  'context',
  'budget',
  'timeout',
  'infra',
  'cancelled',
] as const;
export const FailureClass = z.enum(FAILURE_CLASSES);
export type FailureClass = z.infer<typeof FailureClass>;

export const BlockKind = z.enum(['needs_input', 'needs_decision', 'capability', 'external', 'dependency']);
export type BlockKind = z.infer<typeof BlockKind>;

export const AttemptOutcome = z.enum([
  'completed',
  'failed',
  'released',
  'parked',
  'expired',
  'blocked',
  'rejected',
  'cancelled',
]);
export type AttemptOutcome = z.infer<typeof AttemptOutcome>;

/** The caller's own name for a task; unique on its board; any characters but NUL and lone surrogates. */
export const TaskKey = requiredText(200);

const isId = (text: string) => TaskId.safeParse(text).success || JobId.safeParse(text).success;

/** A key as callers choose it: none that reads like an ID, for a reference would mean the one or the other. */
export const NewTaskKey = TaskKey.refine(
  (key) => !isId(key),
  'must not look like a task or job ID such as "t_4kx9m2ab": references name tasks by key or by ID',
);

/** What a caller names as a dependency: a task ID or key, or either with a condition (default `completed`). */
export const DependencyRef = z.union([
  requiredText(200),
  z.strictObject({ task: requiredText(200), condition: Condition.optional() }),
]);
export type DependencyRef = z.infer<typeof DependencyRef>;

/** An edge as stored: always a task ID and an explicit condition. */
export const Dependency = z.strictObject({ task: TaskId, condition: Condition });
export type Dependency = z.infer<typeof Dependency>;

/** How one acceptance item is checked by the harness. */
export const Check = z.union([
  z.strictObject({ run: requiredText(4096), timeoutMs: z.number().int().min(1).max(86_400_000).optional() }),
  z.strictObject({ schema: z.record(z.string(), JsonValue) }),
]);
export type Check = z.infer<typeof Check>;

/** What must hold for the task to count as done; plain text becomes an item with an ID of its own. */
export const AcceptanceItem = z.strictObject({
  id: z.string().regex(/^[\w-]{1,40}$/, 'must be 1 to 40 letters, digits, "_" or "-"'),
  text: requiredText(2048),
  check: Check.optional(),
});
export type AcceptanceItem = z.infer<typeof AcceptanceItem>;

/** Evidence names an item by its ID, so no two may share one. */
const acceptance = z
  .array(AcceptanceItem)
  .max(50)
  .superRefine((items, context) => {
    const seen = new Set<string>();
    for (const [i, { id }] of items.entries()) {
      if (seen.has(id))
        context.addIssue({
          code: 'custom',
          path: [i, 'id'],
          message: `"${id}" is the ID of another item of this task`,
        });
      seen.add(id);
    }
  });

export const TaskLimits = z.strictObject({
  maxTurns: z.number().int().min(1).max(1000).optional(),
  timeoutMs: z.number().int().min(1000).max(86_400_000).optional(),
  budgetUsd: BudgetUsd.optional(),
});
export type TaskLimits = z.infer<typeof TaskLimits>;

export const Command = z.strictObject({
  run: requiredText(4096),
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
});

const label = z
  .string()
  .min(1)
  .max(64)
  .refine(
    (text) => isCleanText(text) && !isBlank(text) && text.trim() === text,
    'must be clean, not blank and without outer spaces',
  );

const taskFields = {
  title: titleText(),
  instructions: boundedText(16_384).optional(),
  input: boundedJson(65_536).optional(),
  outputSchema: z.record(z.string(), JsonValue).optional(),
  dependsOn: z.array(DependencyRef).max(10_000).optional(),
  onDependencyLost: z.enum(['hold', 'cancel']).optional(),
  acceptance: acceptance.optional(),
  policy: Policy.optional(),
  priority: z.number().int().min(0).max(4).optional(),
  labels: z.array(label).max(20).optional(),
  executor: Executor.optional(),
  command: Command.optional(),
  model: requiredText(200).optional(),
  limits: TaskLimits.optional(),
  parent: requiredText(200).optional(),
  replaces: requiredText(200).optional(),
  maxAttempts: z.number().int().min(1).max(100).optional(),
};

/** One task as a caller adds it, over HTTP or by `board_plan`. */
export const NewTask = z.strictObject({ key: NewTaskKey.optional(), ...taskFields });
export type NewTask = z.infer<typeof NewTask>;

/** New values of a task's fields but its key; absent ones stay, null takes a value away. */
export const TaskChanges = NewTask.omit({ key: true }).partial().extend({
  parent: taskFields.parent.nullable(),
  replaces: taskFields.replaces.nullable(),
  model: taskFields.model.nullable(),
});
export type TaskChanges = z.infer<typeof TaskChanges>;

export const Evidence = z.strictObject({
  acceptanceId: z.string().max(40).optional(),
  kind: z.enum(['statement', 'artifact', 'check']),
  text: boundedText(4096).optional(),
  ref: boundedText(512).optional(),
  /** Of kind `check`, which the harness alone adds. */
  passed: z.boolean().optional(),
});
export type Evidence = z.infer<typeof Evidence>;

/** Evidence as whoever submits gives it; what the checks have found only the harness adds. */
export const GivenEvidence = Evidence.omit({ passed: true })
  .extend({
    kind: z.enum(
      ['statement', 'artifact'],
      'must be "statement" or "artifact": "check" is what the harness adds when it has run a check',
    ),
  })
  .refine(({ kind, text = '' }) => kind !== 'statement' || !isBlank(text), {
    path: ['text'],
    message: 'must say what shows that it holds: a statement without a text is none',
  })
  .refine(({ kind, ref = '' }) => kind !== 'artifact' || !isBlank(ref), {
    path: ['ref'],
    message: 'must name the artifact',
  });
export type GivenEvidence = z.infer<typeof GivenEvidence>;

export const TaskResult = z.strictObject({
  summary: boundedText(2048),
  output: boundedJson(65_536).optional(),
  artifacts: z.array(boundedText(512)),
});
export type TaskResult = z.infer<typeof TaskResult>;

export const TaskFailure = z.strictObject({ class: FailureClass, reason: z.string() });
export type TaskFailure = z.infer<typeof TaskFailure>;

export const READINESS_STATES = ['held', 'unreachable', 'waiting', 'scheduled', 'ready'] as const;

/** Why a pending task can or can't be claimed; derived, never stored by callers. */
export const Readiness = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('held'), cause: z.enum(['pause', 'proposal', 'approval', 'budget']) }),
  z.strictObject({ state: z.literal('unreachable'), because: z.array(TaskId) }),
  z.strictObject({ state: z.literal('waiting'), on: z.array(z.union([TaskId, z.literal('news')])) }),
  z.strictObject({ state: z.literal('scheduled'), at: z.string() }),
  z.strictObject({ state: z.literal('ready') }),
]);
export type Readiness = z.infer<typeof Readiness>;

/** A task as every reader sees it; lists leave out instructions, input, output and evidence. */
export const Task = z.strictObject({
  id: TaskId,
  number: z.number().int().nonnegative(),
  key: TaskKey.optional(),
  version: z.number().int().positive(),
  title: z.string(),
  instructions: z.string().optional(),
  input: JsonValue.optional(),
  outputSchema: z.record(z.string(), JsonValue).optional(),
  status: TaskStatus,
  readiness: Readiness.optional(),
  owner: Owner.optional(),
  dependsOn: z.array(Dependency),
  onDependencyLost: z.enum(['hold', 'cancel']),
  parent: TaskId.optional(),
  replaces: TaskId.optional(),
  priority: z.number().int(),
  labels: z.array(z.string()),
  executor: Executor,
  command: Command.optional(),
  acceptance: z.array(AcceptanceItem),
  policy: Policy,
  model: z.string().optional(),
  limits: TaskLimits.optional(),
  attempt: z.number().int().nonnegative(),
  failures: z.number().int().nonnegative(),
  maxAttempts: z.number().int().positive(),
  leaseUntil: z.string().optional(),
  notBefore: z.string().optional(),
  result: TaskResult.optional(),
  evidence: z.array(Evidence).optional(),
  failure: TaskFailure.optional(),
  block: z.strictObject({ kind: BlockKind, reason: z.string(), question: z.string().optional() }).optional(),
  progress: z.string().optional(),
  usage: PaidUsage,
  createdBy: Actor,
  createdAt: z.string(),
  updatedAt: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
});
export type Task = z.infer<typeof Task>;

/** One attempt of a task, as claims and attempts lists show it. */
export const Attempt = z.strictObject({
  attempt: z.number().int().positive(),
  owner: Owner,
  startedAt: z.string(),
  endedAt: z.string().optional(),
  outcome: AttemptOutcome.optional(),
  class: FailureClass.optional(),
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
