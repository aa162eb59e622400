import { type Counts, isoTime, type JobStatus, type Readiness, type TaskStatus } from '@crewboard/contracts';
import { CODES, OUTSIDE_CODES, READY_CODES, statusOf } from './codes.ts';
import type { BoardRecord } from './records.ts';

/** What holds every pending task of a board; the first that applies. */
export type BoardHold = 'pause' | 'approval' | undefined;

/** Returns what holds the pending tasks of a board; one that is not started stands still like a paused one. */
export function holdOf({ status, pauses, plan }: Pick<BoardRecord, 'status' | 'pauses' | 'plan'>): BoardHold {
  if (status === 'accepting' || pauses.length > 0) return 'pause';
  return plan === 'none' ? undefined : 'approval';
}

/** The counts of a board; they add up by construction, and under a pause, before the start or a plan's approval all that is pending is held. */
export function countsOf(board: BoardRecord): Counts {
  const c = board.count;
  const ready = board.sum(READY_CODES);
  const pending = ready + c(CODES.waiting) + c(CODES.scheduled) + c(CODES.unreachable) + c(CODES.held);
  const isHeld = holdOf(board) !== undefined;
  const rest = {
    in_progress: c(CODES.in_progress),
    in_review: c(CODES.in_review),
    blocked: c(CODES.blocked),
    completed: c(CODES.completed),
    failed: c(CODES.failed),
    cancelled: c(CODES.cancelled),
  };
  return {
    total: pending + Object.values(rest).reduce((a, b) => a + b, 0),
    pending,
    ...rest,
    ready: isHeld ? 0 : ready,
    waiting: isHeld ? 0 : c(CODES.waiting),
    scheduled: isHeld ? 0 : c(CODES.scheduled),
    unreachable: isHeld ? 0 : c(CODES.unreachable),
    held: isHeld ? pending : c(CODES.held),
  };
}

/** The job's status as people see it: a set of pause causes shows as `paused`. */
export function jobStatusOf(board: BoardRecord): JobStatus {
  if (board.pauses.length > 0 && board.endedAt === 0) return 'paused';
  return board.status;
}

/**
 * Why a pending task can or can't be claimed: the one function behind list, claim and why. `open` are the
 * dependencies that stand in its way. Undefined when the task is not pending.
 */
export function readinessOf(
  task: { code: number; hold: string; notBefore: number },
  open: readonly string[],
  boardHold: BoardHold,
): Readiness | undefined {
  if (statusOf(task.code) !== 'pending') return undefined;
  if (boardHold === 'pause') return { state: 'held', cause: 'pause' };
  if (task.hold === 'proposal') return { state: 'held', cause: 'proposal' };
  if (boardHold === 'approval') return { state: 'held', cause: 'approval' };
  if (task.hold === 'news') return { state: 'waiting', on: ['news'] };
  if (task.code === CODES.held) return { state: 'held', cause: 'approval' };
  if (task.code === CODES.unreachable) return { state: 'unreachable', because: [...open] };
  if (task.code === CODES.waiting) return { state: 'waiting', on: [...open] };
  if (task.code === CODES.scheduled) return { state: 'scheduled', at: isoTime(task.notBefore) };
  return { state: 'ready' };
}

/** Codes that make up a status or a readiness state, for list filters. */
export function codesOf(
  filter: { status?: TaskStatus; readiness?: Readiness['state'] },
  hold: BoardHold,
): number[] {
  const pending = [...READY_CODES, CODES.waiting, CODES.scheduled, CODES.unreachable, CODES.held];
  let codes: number[];
  if (filter.readiness === undefined) codes = [...pending, 10, 11, 12, 13, 14, 15, ...OUTSIDE_CODES];
  else if (hold !== undefined) codes = filter.readiness === 'held' ? [...pending, CODES.proposal] : [];
  else if (filter.readiness === 'ready') codes = READY_CODES;
  // Proposals are held too, though they stand outside the counts.
  else if (filter.readiness === 'held') codes = [CODES.held, CODES.proposal];
  else codes = [CODES[filter.readiness]];
  if (filter.status === undefined) return codes;
  return codes.filter((code) => statusOf(code) === filter.status);
}
