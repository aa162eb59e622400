import {
  type AttemptOutcome,
  type BoardEvent,
  Dependency,
  FailureClass,
  isEnded,
  type JobStatus,
  Owner,
  type TaskId,
  type TaskStatus,
} from '@crewboard/contracts';
import { z } from 'zod';

/** A task as the log alone tells it. */
export interface FoldedTask {
  status: TaskStatus;
  version: number;
  attempt: number;
  owner: Owner | undefined;
  dependsOn: Dependency[];
  /** How the last attempt ended; undefined while it runs, or when there was none. */
  outcome: { kind: AttemptOutcome; class?: FailureClass | undefined } | undefined;
}

export interface FoldedBoard {
  tasks: Map<TaskId, FoldedTask>;
  jobStatus: JobStatus;
}

const Edges = z.object({ dependsOn: z.array(Dependency) });
const BlockedOn = z.object({ on: Dependency.shape.task });
const Failed = z.object({ class: FailureClass });
/** What the job does after a plan was rejected; one that is cancelled says so itself. */
const RejectedPlan = z.object({ job: z.literal('planning') });
const Decided = z.object({ decision: z.string() });

/** How an attempt ends by events that always end one. */
const OUTCOMES: Partial<Record<BoardEvent['type'], AttemptOutcome>> = {
  'task.submitted': 'completed',
  'task.blocked': 'blocked',
  'task.released': 'released',
  'task.parked': 'parked',
  'task.expired': 'expired',
};

function dependenciesAfter(event: BoardEvent, before: Dependency[]): Dependency[] {
  const edges = Edges.safeParse(event.data);
  if (edges.success) return edges.data.dependsOn;
  const blocked = event.type === 'task.blocked' ? BlockedOn.safeParse(event.data) : undefined;
  if (!blocked?.success) return before;
  // A task that is blocked by another one depends on it from then on.
  const edge: Dependency = { task: blocked.data.on, condition: 'completed' };
  const has = before.some(({ task }) => task === edge.task);
  return has ? before.map((old) => (old.task === edge.task ? edge : old)) : [...before, edge];
}

function outcomeAfter(event: BoardEvent, before: FoldedTask | undefined): FoldedTask['outcome'] {
  const kind = OUTCOMES[event.type];
  if (kind !== undefined) return { kind };
  switch (event.type) {
    case 'task.claimed':
      return undefined;
    case 'task.completed':
      return { kind: 'completed' };
    case 'task.failed': {
      const failed = Failed.safeParse(event.data);
      return { kind: 'failed', class: failed.success ? failed.data.class : undefined };
    }
    case 'task.checked': {
      const decided = Decided.safeParse(event.data);
      return decided.success && decided.data.decision === 'reject' ? { kind: 'rejected' } : before?.outcome;
    }
    case 'task.cancelled':
      return before?.status === 'in_progress' ? { kind: 'cancelled', class: 'cancelled' } : before?.outcome;
    default:
      return before?.outcome;
  }
}

function taskAfter(event: BoardEvent, before: FoldedTask | undefined): FoldedTask {
  const owner = Owner.safeParse(event.owner);
  return {
    status: event.status ?? before?.status ?? 'pending',
    version: event.version ?? before?.version ?? 1,
    attempt: event.attempt ?? before?.attempt ?? 0,
    owner: owner.success ? owner.data : undefined,
    dependsOn: dependenciesAfter(event, before?.dependsOn ?? []),
    outcome: outcomeAfter(event, before),
  };
}

const STATUSES: Partial<Record<BoardEvent['type'], JobStatus>> = {
  'job.planning': 'planning',
  'job.running': 'running',
  'job.succeeded': 'succeeded',
  'job.partial': 'partial',
  'job.failed': 'failed',
  'job.cancelled': 'cancelled',
  'job.reopened': 'running',
  'plan.proposed': 'awaiting_approval',
};

/**
 * Folds a board's log from its first event on into what it says of the job and each task. It equals what the board
 * stores; task 0 appears with its first event.
 */
export function foldEvents(events: Iterable<BoardEvent>): FoldedBoard {
  const tasks = new Map<TaskId, FoldedTask>();
  let status: JobStatus = 'accepting';
  let isPaused = false;
  for (const event of events) {
    if (event.taskId !== undefined && event.version !== undefined) {
      tasks.set(event.taskId, taskAfter(event, tasks.get(event.taskId)));
    }
    status = STATUSES[event.type] ?? status;
    if (event.type === 'plan.rejected' && RejectedPlan.safeParse(event.data).success) status = 'planning';
    if (event.type === 'job.paused') isPaused = true;
    if (event.type === 'job.resumed') isPaused = false;
  }
  return { tasks, jobStatus: isPaused && !isEnded(status) ? 'paused' : status };
}
