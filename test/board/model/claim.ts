import type { Answer, Call } from './calls.ts';
import { hasEnded, isBuiltIn, isOver, plannedOf, readinessOf, taskOf } from './derive.ts';
import { fillWindow, log } from './follow.ts';
import { leaseEnd } from './holder.ts';
import { refused } from './refusals.ts';
import type { ModelBoard, ModelTask } from './state.ts';

type Claim = Extract<Call, { do: 'claim' }>;

const kindOf = (owner: string) => owner.slice(0, owner.indexOf(':'));

/** The task that an external holder gets without naming one. */
function nextFor(board: ModelBoard): ModelTask | undefined {
  return plannedOf(board)
    .filter(
      (task) => task.executor === 'external' && task.status === 'pending' && readinessOf(task) === 'ready',
    )
    .sort((a, b) => a.priority - b.priority || a.number - b.number)[0];
}

/** A delivery that can't be taken now: the task goes back to ready, to be queued anew. The lead stays queued. */
function unqueue(task: ModelTask, call: Claim): void {
  if (isBuiltIn(call.owner) && task.number > 0) task.queued = false;
}

function claimRefusal(board: ModelBoard, task: ModelTask, call: Claim): Answer | undefined {
  if ((task.number === 0) !== (kindOf(call.owner) === 'lead')) return refused('forbidden');
  if (call.expected !== undefined && call.expected !== task.attempts.length) return { word: 'dropped' };
  if (task.status === 'in_progress') return refused('already_claimed');
  if (isOver(task) || hasEnded(board) || board.cancelling) return refused('terminal');
  if (board.pauses.length > 0) {
    unqueue(task, call);
    return refused('board_paused');
  }
  if (task.status !== 'pending') return refused('invalid_transition');
  const readiness = readinessOf(task);
  const isDue = readiness === 'scheduled' && (task.notBefore ?? 0) <= board.now;
  if (readiness !== 'ready' && !isDue) return refused('not_ready');
  // What was not dispatched has a delivery of its own to come.
  if (isBuiltIn(call.owner) && !task.queued) return { word: 'dropped' };
  const isBusy = plannedOf(board).some((other) => other.status === 'in_progress');
  if (task.number > 0 && !board.settings.allowParallel && isBusy) {
    unqueue(task, call);
    return refused('parallel_in_progress');
  }
  return undefined;
}

const isRepeat = (task: ModelTask, call: Claim) =>
  task.claim !== undefined && task.claimRequest === call.request && task.owner === call.owner;

/** The task that somebody outside got by this very request, whichever was to be had then. */
function repeated(board: ModelBoard, call: Claim): ModelTask | undefined {
  return isBuiltIn(call.owner) ? undefined : plannedOf(board).find((task) => isRepeat(task, call));
}

/** What a claim shows of the task. */
const shown = (task: ModelTask) => ({
  task: task.number,
  claim: task.claim,
  attempt: task.attempts.length,
  version: task.version,
  fresh: task.fresh,
});

/** A new attempt: number, owner, claim, lease. */
export function claim(board: ModelBoard, call: Claim): Answer {
  const earlier = repeated(board, call);
  const task = call.task === undefined ? (earlier ?? nextFor(board)) : taskOf(board, call.task);
  if (task === undefined) return call.task === undefined ? { word: 'none' } : refused('not_found');
  if (earlier !== undefined && earlier !== task) return refused('idempotency_mismatch');
  if (isRepeat(task, call)) {
    return { word: 'already', data: shown(task) };
  }
  const refusal = claimRefusal(board, task, call);
  if (refusal !== undefined) {
    fillWindow(board);
    return refusal;
  }
  board.claims += 1;
  task.status = 'in_progress';
  task.queued = false;
  task.version += 1;
  task.owner = call.owner;
  task.claim = board.claims;
  task.claimRequest = call.request;
  task.hold = '';
  task.growth = false;
  task.openTools = 0;
  delete task.notBefore;
  task.lease = call.lease;
  const end = leaseEnd(board, call.lease);
  if (end !== undefined) task.leaseEnd = end;
  task.attempts.push({ claim: board.claims, owner: call.owner });
  log(board, 'task.claimed', task);
  fillWindow(board);
  return { word: 'ok', data: shown(task) };
}
