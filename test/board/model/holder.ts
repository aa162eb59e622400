import type { FailureClass } from '@crewboard/contracts';
import { type Answer, type Call, type Delay, type Lease, STRIKES } from './calls.ts';
import { dependsOn, isOutside, isStill, taskOf } from './derive.ts';
import { addDependency } from './edges.ts';
import {
  conclude,
  endAttempt,
  fillWindow,
  finish,
  handOn,
  log,
  mayWake,
  news,
  rest,
  wake,
} from './follow.ts';
import { holderTask, isAnswer, OK, refused, remember } from './refusals.ts';
import { FAR, type ModelBoard, type ModelTask } from './state.ts';

type Of<Name extends Call['do']> = Extract<Call, { do: Name }>;

/** When a lease that begins now is over: a short one before the next step. */
export function leaseEnd(board: ModelBoard, lease: Lease): number | undefined {
  if (lease === 'none') return undefined;
  return board.now + (lease === 'short' ? 1 : FAR);
}

function delayed(board: ModelBoard, task: ModelTask, delay: Delay): void {
  if (delay === 'none') delete task.notBefore;
  else task.notBefore = board.now + (delay === 'soon' ? 1 : FAR);
}

/** Calls that answer nothing can't be told from their repeats. */
const silent = (answer: Answer): Answer => (answer.word === 'already' ? OK : answer);

const done = (task: ModelTask): Answer => ({ word: 'ok', data: { version: task.version } });

export function heartbeat(board: ModelBoard, call: Of<'heartbeat'>): Answer {
  const task = holderTask(board, call);
  if (isAnswer(task)) return task;
  task.lease = call.lease === 'same' ? task.lease : call.lease;
  const end = leaseEnd(board, task.lease);
  if (end !== undefined) task.leaseEnd = end;
  return done(task);
}

export function note(board: ModelBoard, call: Of<'note'>): Answer {
  const task = holderTask(board, call);
  if (isAnswer(task)) return silent(task);
  remember(task, call);
  log(board, 'task.noted', task);
  return OK;
}

export function journal(board: ModelBoard, call: Of<'journal'>): Answer {
  const task = holderTask(board, call);
  if (isAnswer(task)) return task;
  if (call.entry === 'start') task.fresh = false;
  if (call.entry === 'reply' || call.entry === 'result') task.growth = true;
  if (call.entry === 'started') task.openTools += 1;
  if (call.entry === 'result') task.openTools = Math.max(0, task.openTools - 1);
  return OK;
}

export function submit(board: ModelBoard, call: Of<'submit'>): Answer {
  const task = holderTask(board, call);
  if (isAnswer(task)) return task;
  remember(task, call);
  endAttempt(task, 'completed');
  if (call.to === 'complete') {
    finish(board, task, 'completed', 'task.completed');
  } else {
    task.status = 'in_review';
    task.hold = call.to;
    log(board, 'task.submitted', task);
    if (call.to === 'checks') {
      task.strikes = 0;
      queueChecks(board, task);
    }
  }
  conclude(board);
  return done(task);
}

/**
 * What a failure means: again while it may be, else the task has failed. `infra` and `cancelled` are no failures of
 * the task.
 */
export function failTask(
  board: ModelBoard,
  task: ModelTask,
  failure: FailureClass,
  retryable: boolean,
  delay: Delay,
): void {
  const isOwn = failure !== 'infra' && failure !== 'cancelled';
  if (isOwn) {
    task.strikes = 0;
    task.sticky = false;
    task.failures += 1;
    task.fresh = true;
  }
  if (retryable && task.number > 0 && task.failures < task.maxAttempts) {
    delayed(board, task, delay);
    rest(board, task);
    log(board, 'task.failed', task);
  } else {
    task.failure = failure;
    if (task.number === 0) board.leadFailure = `lead: ${failure}`;
    finish(board, task, 'failed', 'task.failed');
  }
  conclude(board);
}

/** The checks of a submission go to the queue, as a delivery with a number of its own. */
export function queueChecks(board: ModelBoard, task: ModelTask): void {
  task.dispatches += 1;
  handOn(board, 'checks', task.number, task.attempts.length, task.dispatches);
}

/** A submission does not hold: the attempt that made it has failed after all. */
export function failReview(
  board: ModelBoard,
  task: ModelTask,
  failure: FailureClass,
  retryable: boolean,
  delay: Delay,
): void {
  task.requests = [];
  const attempt = task.attempts.at(-1);
  if (attempt !== undefined) Object.assign(attempt, { outcome: 'failed', class: failure });
  failTask(board, task, failure, retryable, delay);
}

export function fail(board: ModelBoard, call: Of<'fail'>): Answer {
  const task = holderTask(board, call);
  if (isAnswer(task)) return silent(task);
  remember(task, call);
  if (call.class === 'infra') task.strikes += 1;
  const isLast = call.class === 'infra' && task.strikes >= STRIKES;
  endAttempt(task, 'failed', call.class);
  failTask(board, task, call.class, call.retryable && !isLast, call.delay);
  return OK;
}

export function release(board: ModelBoard, call: Of<'release'>): Answer {
  const task = holderTask(board, call);
  if (isAnswer(task)) return silent(task);
  remember(task, call);
  task.strikes = 0;
  task.sticky = false;
  giveBack(board, task, 'released', 'none');
  return OK;
}

function giveBack(board: ModelBoard, task: ModelTask, outcome: 'released' | 'parked', delay: Delay): void {
  endAttempt(task, outcome);
  delayed(board, task, delay);
  rest(board, task);
  log(board, `task.${outcome}`, task);
  // The sweeper ends a job whose lead waits and may not be woken any more.
  if (task.number > 0) conclude(board);
  else fillWindow(board);
}

/** `strikes` > 0 makes it a strike when the attempt brought nothing; at that many in a row the task fails. */
export function park(board: ModelBoard, call: Of<'park'>): Answer {
  const task = holderTask(board, call);
  if (isAnswer(task)) return silent(task);
  remember(task, call);
  if (call.strikes > 0 && !task.growth) {
    task.strikes += 1;
    if (task.strikes >= call.strikes) {
      endAttempt(task, 'failed', 'infra');
      failTask(board, task, 'infra', false, 'none');
      return OK;
    }
  } else if (call.strikes === 0 || !task.sticky) {
    task.strikes = 0;
    task.sticky = false;
  }
  giveBack(board, task, 'parked', call.delay);
  return OK;
}

/** The lead waits for news: over at once when there is some already, refused in a word when nothing can make any. */
export function wait(board: ModelBoard, call: Of<'wait'>): Answer {
  const lead = holderTask(board, call);
  if (isAnswer(lead)) {
    // An earlier attempt made this very wait, and it is over: the attempt goes on.
    const goesOn = taskOf(board, call.task)?.claim === call.claim;
    return lead.word === 'already' ? { word: goesOn ? 'woken' : 'parked' } : lead;
  }
  if (!board.unread && isStill(board)) return { word: 'still' };
  remember(lead, call);
  lead.strikes = 0;
  lead.sticky = false;
  endAttempt(lead, 'parked');
  delete lead.notBefore;
  lead.hold = 'news';
  if (board.unread && mayWake(board, isStill(board))) {
    lead.hold = '';
    wake(board);
  }
  rest(board, lead);
  log(board, 'task.parked', lead);
  fillWindow(board);
  return { word: 'parked' };
}

export function block(board: ModelBoard, call: Of<'block'>): Answer {
  if ((call.kind === 'dependency') !== (call.on !== undefined)) return refused('invalid_argument');
  const task = holderTask(board, call);
  if (isAnswer(task)) return silent(task);
  if (call.on !== undefined) {
    const on = taskOf(board, call.on);
    if (on === undefined || on.number === 0 || isOutside(on)) return refused('unknown_dependency');
    if (call.on === task.number || dependsOn(board, call.on, task.number)) return refused('dependency_cycle');
  }
  remember(task, call);
  task.strikes = 0;
  task.sticky = false;
  endAttempt(task, 'blocked');
  if (call.on === undefined) {
    task.status = 'blocked';
    task.block = call.kind;
    news(board, false);
  } else {
    addDependency(board, task, call.on);
    rest(board, task);
  }
  log(board, 'task.blocked', task);
  conclude(board);
  return OK;
}
