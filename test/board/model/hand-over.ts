import { type Answer, type Call, STRIKES } from './calls.ts';
import {
  hasEnded,
  isBuiltIn,
  isOpen,
  isOutside,
  isOver,
  isUnderWay,
  leadOf,
  plannedOf,
  readinessOf,
  taskOf,
} from './derive.ts';
import {
  cancelTask,
  cascadeFrom,
  cascadeOn,
  conclude,
  endAttempt,
  endIfStill,
  endJob,
  failuresThatCount,
  fillWindow,
  handOn,
  log,
  mustHave,
  queueLead,
  rest,
  settleDown,
  tellFrom,
  wake,
} from './follow.ts';
import { failReview, failTask, queueChecks } from './holder.ts';
import { holderTask, isAnswer, OK, refused, remember } from './refusals.ts';
import { carryOnRerun } from './reruns.ts';
import type { ModelBoard, ModelTask } from './state.ts';

type Of<Name extends Call['do']> = Extract<Call, { do: Name }>;

/** The sweeper found that nobody holds the task any more. */
function expire(board: ModelBoard, task: ModelTask): void {
  const isToolOpen = task.openTools > 0;
  if (!isBuiltIn(task.owner)) {
    task.strikes = 0;
  } else if (!task.growth || isToolOpen) {
    task.strikes += 1;
    task.sticky ||= isToolOpen;
  } else if (!task.sticky) {
    task.strikes = 0;
  }
  if (task.strikes >= STRIKES) {
    endAttempt(task, 'failed', 'infra');
    failTask(board, task, 'infra', false, 'none');
    return;
  }
  endAttempt(task, 'expired');
  rest(board, task);
  log(board, 'task.expired', task);
}

/** The lease of a runner of checks is over: another one takes them, unless they keep losing their runners. */
function loseRunner(board: ModelBoard, task: ModelTask): void {
  delete task.runner;
  task.strikes += 1;
  if (task.strikes < STRIKES) {
    queueChecks(board, task);
    return;
  }
  task.hold = '';
  task.version += 1;
  failReview(board, task, 'infra', false, 'none');
}

/** One round of the sweeper: leases that are over, times that have come, the job's end, the window. */
export function sweep(board: ModelBoard): Answer {
  if (hasEnded(board)) return OK;
  const over = board.tasks
    .filter((task) => task.leaseEnd !== undefined && task.leaseEnd <= board.now)
    .sort((a, b) => (a.leaseEnd ?? 0) - (b.leaseEnd ?? 0));
  for (const task of over) {
    if (task.status === 'in_progress') {
      expire(board, task);
      if (task.number > 0) endIfStill(board, true);
    }
    delete task.leaseEnd;
    if (task.status === 'in_review') loseRunner(board, task);
  }
  if (hasEnded(board)) return OK;
  for (const task of board.tasks) {
    if (task.status !== 'pending' || task.notBefore === undefined || task.notBefore > board.now) continue;
    if (task.number > 0) {
      if (readinessOf(task) === 'scheduled') settleDown(board, task);
    } else if (isOpen(board)) {
      if (task.hold === 'woken') wake(board);
      queueLead(board, task);
    }
  }
  conclude(board, false);
  return OK;
}

/** Carries out an outbox entry that concerns only the board; doing it again changes nothing. */
export function carryOut(board: ModelBoard, call: Of<'carryOut'>): Answer {
  if (call.kind === 'settle') carryOnSettling(board, call.task);
  if (call.kind === 'cascade') carryOnCancelling(board, call.task);
  if (call.kind === 'rerun') carryOnRerun(board, call.task);
  if (call.kind === 'lost') cancelLost(board, call.task);
  if (call.kind === 'cancel') cancelAll(board);
  if (call.kind === 'dispatch') fillWindow(board);
  return OK;
}

function carryOnSettling(board: ModelBoard, on: number): void {
  const slice = board.slices.find((entry) => entry.task === on);
  if (slice === undefined) return;
  const left = tellFrom(board, on, slice.from);
  if (left === undefined) {
    board.slices = board.slices.filter((entry) => entry.task !== on);
  } else {
    slice.from = left;
    handOn(board, 'settle', on);
  }
  conclude(board);
}

function carryOnCancelling(board: ModelBoard, on: number): void {
  const cascade = board.cascades.find((entry) => entry.task === on);
  if (cascade === undefined) return;
  const left = hasEnded(board) ? undefined : cascadeFrom(board, on, cascade.from);
  board.cascades = board.cascades.filter((entry) => entry.task !== on);
  if (left !== undefined) cascadeOn(board, on, left);
  conclude(board);
}

/** Cancels a task whose dependency is lost, if that still holds and it still asks for it. */
function cancelLost(board: ModelBoard, number: number): void {
  if (!board.losses.includes(number)) return;
  board.losses = board.losses.filter((other) => other !== number);
  const task = mustHave(board, number);
  const isLost = task.status === 'pending' && task.hold !== 'proposal' && readinessOf(task) === 'unreachable';
  if (isLost && !hasEnded(board)) {
    if (task.onLost === 'cancel') cancelTask(board, task);
    else settleDown(board, task);
  }
  conclude(board);
}

/** In which order a job's tasks are cancelled: it shows only where their dependents are told in slices. */
function rankOf(task: ModelTask): number {
  if (task.hold === 'proposal') return 20;
  if (task.status !== 'pending') return ['in_progress', 'in_review', 'blocked'].indexOf(task.status) + 10;
  const readiness = readinessOf(task);
  if (readiness !== 'ready') return ['waiting', 'scheduled', 'unreachable'].indexOf(readiness) + 6;
  return task.executor === 'external' ? 21 + task.priority : task.queued ? 5 : task.priority;
}

function cancelAll(board: ModelBoard): void {
  if (hasEnded(board) || !board.cancelling) return;
  const open = plannedOf(board).filter((task) => !isOver(task));
  for (const task of open.sort((a, b) => rankOf(a) - rankOf(b) || a.number - b.number))
    cancelTask(board, task);
  const lead = leadOf(board);
  if (lead !== undefined && !isOver(lead)) cancelTask(board, lead);
  endJob(board, 'cancelled');
}

/** The lead was told of everything so far. */
export function tell(board: ModelBoard, call: Of<'tell'>): Answer {
  const lead = holderTask(board, call);
  if (isAnswer(lead)) return lead;
  board.unread = false;
  log(board, 'message.delivered', lead);
  return OK;
}

/** The lead ends the job: not while news is unread or tasks are open, except those that it waives. */
export function finishJob(board: ModelBoard, call: Of<'finish'>): Answer {
  const lead = holderTask(board, call);
  if (isAnswer(lead)) return lead.word === 'already' ? { word: 'ended', data: board.status } : lead;
  if (board.unread) return { word: 'news' };
  if (call.waive.some((number) => taskOf(board, number) === undefined)) return refused('not_found');
  const open = plannedOf(board).filter((task) => !isOver(task) && !isOutside(task));
  const left = open.filter((task) => !call.waive.includes(task.number));
  if (left.length > 0 || isUnderWay(board)) {
    return { word: 'open', data: left.length };
  }
  const waived = [...new Set(call.waive)]
    .map((number) => mustHave(board, number))
    .filter((task) => !isOver(task));
  for (const task of waived) cancelTask(board, task);
  remember(lead, call);
  endAttempt(lead, 'completed');
  lead.status = 'completed';
  log(board, 'task.completed', lead);
  endJob(board, waived.length > 0 || failuresThatCount(board) > 0 ? 'partial' : 'succeeded');
  return { word: 'ended', data: board.status };
}
