import type { TaskStatus } from '@crewboard/contracts';

/** A task's code: status and readiness in one number, as in lua/lib/core.lua. */
export const CODES = {
  queued: 5,
  waiting: 6,
  scheduled: 7,
  unreachable: 8,
  held: 9,
  in_progress: 10,
  in_review: 11,
  blocked: 12,
  completed: 13,
  failed: 14,
  cancelled: 15,
  proposal: 16,
  rejected: 22,
} as const;
export const READY_CODES = [0, 1, 2, 3, 4, CODES.queued, 17, 18, 19, 20, 21];
/** Proposals, accepted by nobody yet or rejected: they stand outside what is planned. */
export const OUTSIDE_CODES: readonly number[] = [CODES.proposal, CODES.rejected];
/** Where in the board record the counts by code begin. */
export const COUNTS_AT = 29;
export const LAST_CODE = 22;

const STATUS_BY_CODE: Record<number, TaskStatus> = {
  [CODES.in_progress]: 'in_progress',
  [CODES.in_review]: 'in_review',
  [CODES.blocked]: 'blocked',
  [CODES.completed]: 'completed',
  [CODES.failed]: 'failed',
  [CODES.cancelled]: 'cancelled',
  [CODES.rejected]: 'cancelled',
};

/** A task's status by its code; every code of waiting to be claimed is `pending`. */
export function statusOf(code: number): TaskStatus {
  return STATUS_BY_CODE[code] ?? 'pending';
}
