import { z } from 'zod';
import { Evidence } from './evidence.ts';
import { TaskId } from './ids.ts';
import { boundedJson, JsonValue } from './json.ts';
import { AcceptanceItem, Command, Dependency, TaskKey, TaskLimits } from './new-task.ts';
import { Actor, BlockKind, Executor, FailureClass, Owner, Policy, TaskStatus } from './task-states.ts';
import { boundedText } from './text.ts';
import { PaidUsage } from './usage.ts';

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
