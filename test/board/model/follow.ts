import type { JobStatus, TaskStatus } from '@crewboard/contracts';
import {
  countsOf,
  edgeState,
  edgesOn,
  hasEnded,
  isOpen,
  isOver,
  isStill,
  leadOf,
  plannedOf,
  readinessOf,
  taskOf,
  windowOf,
} from './derive.ts';
import { type Edge, FAR, type ModelBoard, type ModelTask, type OutboxItem } from './state.ts';

/** What follows from a change: dependents, news for the lead, the window, the job's end. */

export function log(board: ModelBoard, type: string, task?: ModelTask): void {
  board.log.push(task === undefined ? type : `${type} ${task.number}`);
}

export function handOn(board: ModelBoard, kind: OutboxItem['kind'], task: number, attempt = 0, dispatch = 0) {
  board.outbox.push({ kind, task, attempt, dispatch });
}

/** Puts a task into the queue: the delivery names the attempts so far and its own number. */
export function enqueue(board: ModelBoard, task: ModelTask): void {
  task.queued = true;
  task.dispatches += 1;
  handOn(board, 'enqueue', task.number, task.attempts.length, task.dispatches);
}

/** Puts the lead (pending) into its queue. */
export function queueLead(board: ModelBoard, lead: ModelTask): void {
  lead.hold = '';
  delete lead.notBefore;
  enqueue(board, lead);
}

/** At `maxLeadRuns` one last wake is left for when all is settled. */
export function mayWake(board: ModelBoard, settled: boolean): boolean {
  const { maxLeadRuns } = board.settings;
  return board.leadRuns < maxLeadRuns || (settled && board.leadRuns === maxLeadRuns);
}

export function wake(board: ModelBoard): void {
  board.leadRuns += 1;
  board.wokenAt = board.now;
}

/** Something that the lead must hear of. */
export function news(board: ModelBoard, settled: boolean): void {
  board.unread = true;
  const lead = leadOf(board);
  if (lead === undefined || !isOpen(board) || !mayWake(board, settled)) return;
  const isCollecting = lead.status === 'pending' && lead.hold === 'woken';
  if (!isCollecting && !(lead.status === 'pending' && lead.hold === 'news')) return;
  if (settled || !board.settings.coalesce) {
    wake(board);
    queueLead(board, lead);
  } else if (!isCollecting) {
    lead.hold = 'woken';
    lead.notBefore = board.wokenAt + FAR;
  }
}

/** Tells that a pending task can't be reached any more, or has it cancelled if it asked for that. */
export function announceLoss(board: ModelBoard, task: ModelTask): void {
  if (hasEnded(board) || board.cancelling) return;
  if (task.onLost === 'cancel') {
    if (!board.losses.includes(task.number)) board.losses.push(task.number);
    handOn(board, 'lost', task.number);
    return;
  }
  log(board, 'task.unreachable', task);
  news(board, false);
}

/** Notices that a task's time has come. */
function notice(board: ModelBoard, task: ModelTask): void {
  if (task.notBefore !== undefined && task.notBefore <= board.now) delete task.notBefore;
}

/** A task has just become pending. */
export function settleDown(board: ModelBoard, task: ModelTask): void {
  notice(board, task);
  if (readinessOf(task) === 'unreachable') announceLoss(board, task);
}

/** Makes a change that may move a pending task's readiness, and what follows from that. */
export function reconsider(board: ModelBoard, task: ModelTask, change: () => void): void {
  if (task.status !== 'pending' || task.hold === 'proposal') {
    change();
    return;
  }
  const before = readinessOf(task);
  change();
  notice(board, task);
  const after = readinessOf(task);
  if (after !== 'ready' || task.executor === 'external') task.queued = false;
  if (after !== before && after === 'unreachable') announceLoss(board, task);
}

function tell(board: ModelBoard, dependent: ModelTask, edge: Edge): void {
  reconsider(board, dependent, () => {
    edge.told = edgeState(board, edge);
  });
}

/** Tells dependents from the edge number `from` on, as far as one step may; returns where it stopped, if it did. */
export function tellFrom(board: ModelBoard, on: number, from: number): number | undefined {
  const edges = edgesOn(board, on);
  // Those of a lost task count double.
  const cost = edgeState(board, { on, condition: 'completed' }) === 'lost' ? 2 : 1;
  const until = Math.min(edges.length, from + Math.ceil(board.edgesLeft / cost));
  for (const { dependent, edge } of edges.slice(from, until)) tell(board, dependent, edge);
  board.edgesLeft = Math.max(0, board.edgesLeft - Math.max(0, until - from) * cost);
  return until < edges.length ? until : undefined;
}

/** A task has just ended, or has been opened again: its dependents hear of it. */
export function tellDependents(board: ModelBoard, on: number): void {
  const rest = tellFrom(board, on, 0);
  if (rest === undefined) return;
  board.slices = [...board.slices.filter((slice) => slice.task !== on), { task: on, from: rest }];
  handOn(board, 'settle', on);
}

/** Ends the current attempt with its outcome; the caller says what the task is now. */
export function endAttempt(
  task: ModelTask,
  outcome: NonNullable<ModelTask['attempts'][number]['outcome']>,
  failure?: ModelTask['failure'],
): void {
  const attempt = task.attempts.at(-1);
  if (attempt !== undefined) Object.assign(attempt, { outcome, ...(failure && { class: failure }) });
  task.owner = '';
  delete task.claim;
  delete task.claimRequest;
  delete task.leaseEnd;
  task.version += 1;
}

/** Back to pending. The lead goes straight to its queue unless it waits. */
export function rest(board: ModelBoard, task: ModelTask): void {
  task.status = 'pending';
  if (task.number > 0) settleDown(board, task);
  else if (task.hold !== 'news' && (task.notBefore ?? 0) <= board.now) queueLead(board, task);
}

/** A task's own end. */
export function finish(board: ModelBoard, task: ModelTask, status: TaskStatus, type: string): void {
  task.status = status;
  task.queued = false;
  log(board, type, task);
  if (task.number === 0) return;
  tellDependents(board, task.number);
  if (status === 'failed') news(board, false);
}

/** Ends one open task as cancelled, with a running attempt. */
export function cancelTask(board: ModelBoard, task: ModelTask): void {
  if (task.status === 'in_progress') endAttempt(task, 'cancelled', 'cancelled');
  else task.version += 1;
  delete task.leaseEnd;
  delete task.runner;
  if (task.hold === 'proposal') task.outside = true;
  task.hold = '';
  finish(board, task, 'cancelled', 'task.cancelled');
}

/** Cancels open dependents over `completed` edges, and theirs through the outbox. */
export function cascadeFrom(board: ModelBoard, on: number, from: number): number | undefined {
  let left = board.settings.slice ?? Number.POSITIVE_INFINITY;
  const edges = edgesOn(board, on);
  let at = from;
  for (; at < edges.length && left > 0; at++) {
    const dependent = edges[at]?.dependent;
    if (dependent === undefined || edges[at]?.edge.condition !== 'completed' || isOver(dependent)) continue;
    cancelTask(board, dependent);
    cascadeOn(board, dependent.number, 0);
    left -= 1;
  }
  return at < edges.length ? at : undefined;
}

export function cascadeOn(board: ModelBoard, on: number, from: number): void {
  if (edgesOn(board, on).length === 0) return;
  board.cascades = [...board.cascades.filter((cascade) => cascade.task !== on), { task: on, from }];
  handOn(board, 'cascade', on);
}

export function endJob(board: ModelBoard, status: JobStatus): void {
  board.status = status;
  log(board, `job.${status}`);
}

/** Failed tasks but those that a completed one replaces. */
export function failuresThatCount(board: ModelBoard): number {
  const replaced = plannedOf(board).flatMap((task) => (task.status === 'completed' ? [task.replaces] : []));
  return plannedOf(board).filter((task) => task.status === 'failed' && !replaced.includes(task.number))
    .length;
}

/** Ends a job that nobody leads (any more) once nothing can move; a lead that waits is told instead. */
export function endIfStill(board: ModelBoard, hasNews: boolean): void {
  if (board.status === 'accepting' || hasEnded(board) || board.cancelling || !isStill(board)) return;
  const lead = leadOf(board);
  const counts = countsOf(board);
  const isSpent = lead?.status === 'pending' && lead.hold === 'news' && !mayWake(board, true);
  if (lead !== undefined && !isOver(lead) && !isSpent) {
    if (counts.total > 0 && hasNews) news(board, true);
    return;
  }
  const isWhole =
    counts.completed > 0 && counts.completed + counts.failed - failuresThatCount(board) === counts.total;
  const leadFailed = isSpent || board.leadFailure !== '';
  endJob(board, isWhole && !leadFailed ? 'succeeded' : counts.completed > 0 ? 'partial' : 'failed');
}

/** Fills the window with ready tasks, first by priority, then by number. */
export function fillWindow(board: ModelBoard): void {
  if (!isOpen(board)) return;
  const { allowParallel, maxParallel } = board.settings;
  const isBusy = plannedOf(board).some((task) => task.status === 'in_progress');
  const most = allowParallel ? maxParallel : isBusy ? 0 : 1;
  const ready = plannedOf(board)
    .filter((task) => task.status === 'pending' && readinessOf(task) === 'ready')
    .filter((task) => task.executor === 'agent' && !task.queued)
    .sort((a, b) => a.priority - b.priority || a.number - b.number);
  for (const task of ready.slice(0, Math.max(0, most - windowOf(board).length))) enqueue(board, task);
}

/** What every change of tasks ends with; `hasNews`: an event stands behind it that a waiting lead may be told. */
export function conclude(board: ModelBoard, hasNews = true): void {
  endIfStill(board, hasNews);
  fillWindow(board);
}

/** Lifts one cause of a pause or all; when none is left the window is refilled and a lead with unread news is woken. */
export function liftPauses(board: ModelBoard, cause?: string): boolean {
  const left = board.pauses.filter((standing) => cause !== undefined && standing !== cause);
  if (left.length === board.pauses.length) return false;
  board.pauses = left;
  log(board, left.length > 0 ? 'job.paused' : 'job.resumed');
  if (left.length > 0) return true;
  const lead = leadOf(board);
  if (lead?.queued) queueLead(board, lead);
  else if (lead?.hold === 'news' && board.unread) news(board, isStill(board));
  conclude(board, false);
  return true;
}

export const mustHave = (board: ModelBoard, number: number): ModelTask => {
  const task = taskOf(board, number);
  if (task === undefined) throw new Error(`the model has no task ${number}`);
  return task;
};
