import { z } from 'zod';
import { requiredText } from './text.ts';

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

/** True for a task that will not be completed, unless somebody opens it again. */
export function isLost({ status }: { status: TaskStatus }): boolean {
  return status === 'failed' || status === 'cancelled';
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

/** What parked an attempt that was not to blame: its model answers nobody, is braked, refuses us, or the money is gone. */
export const ParkCause = z.enum(['model_down', 'rate_limited', 'provider', 'budget']);
export type ParkCause = z.infer<typeof ParkCause>;
