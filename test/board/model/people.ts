import { checkAdds } from './adds.ts';
import type { Answer, Call } from './calls.ts';
import { applyAdds } from './changes.ts';
import { hasEnded, taskOf } from './derive.ts';
import { conclude, finish, liftPauses, log, news, rest, settleDown } from './follow.ts';
import { failReview, leaseEnd } from './holder.ts';
import {
  changeRefusal,
  earlierAnswer,
  holderTask,
  isAnswer,
  leadRefusal,
  nameOf,
  OK,
  refused,
} from './refusals.ts';
import type { ModelBoard, ModelTask } from './state.ts';

type Of<Name extends Call['do']> = Extract<Call, { do: Name }>;

/** A holder proposes a task; it stands outside until somebody accepts it. */
export function propose(board: ModelBoard, call: Of<'propose'>): Answer {
  const held = holderTask(board, { task: call.task, claim: call.claim });
  if (isAnswer(held) && (held.data === 'not_owner' || held.data === 'not_found')) return held;
  const request = `proposal/${call.task}/${call.request}`;
  const content = JSON.stringify(call.new);
  const earlier = board.answers.find((answer) => answer.request === request);
  if (earlier !== undefined) {
    return earlier.content === content ? { word: 'ok', data: earlier.data } : refused('idempotency_mismatch');
  }
  if (isAnswer(held)) return held;
  const plan = checkAdds(board, [call.new]);
  if ('word' in plan) return plan;
  const [number] = applyAdds(board, plan, 'proposal');
  const data = { task: number };
  board.answers.push({ request, content, data });
  news(board, false);
  return { word: 'ok', data };
}

/** A person's or the lead's word on a task that waits for one. */
export function resolve(board: ModelBoard, call: Of<'resolve'>): Answer {
  const token = leadRefusal(board, call.lead);
  if (token?.data === 'not_owner') return token;
  const name = nameOf(call);
  const content = JSON.stringify(['resolve', call.task, call.version, call.decision]);
  const earlier = earlierAnswer(board, name, content);
  if (earlier !== undefined) return 'word' in earlier ? earlier : { word: 'already', data: earlier.data };
  if (token !== undefined) return token;
  const task = taskOf(board, call.task);
  if (hasEnded(board) || board.cancelling) return refused('terminal');
  const refusal = changeRefusal(task, call.version, false);
  if (refusal !== undefined || task === undefined) return refusal ?? refused('not_found');
  const isReview = task.status === 'in_review' && task.hold === 'review';
  const isProposal = task.hold === 'proposal';
  const fits = call.decision === 'unblock' ? task.status === 'blocked' : isReview || isProposal;
  if (!fits) return refused('invalid_transition');
  task.version += 1;
  const data = { version: task.version };
  if (name !== undefined) board.answers.push({ request: name, content, data });
  task.hold = '';
  if (isProposal) decideProposal(board, task, call.decision === 'approve');
  else if (call.decision === 'approve') finish(board, task, 'completed', 'task.completed');
  else sendBack(board, task, call.decision === 'reject');
  // What is pending now gives a job that stood still something to go on with.
  if (task.status === 'pending') liftPauses(board, 'stall');
  conclude(board);
  return { word: 'ok', data };
}

function decideProposal(board: ModelBoard, task: ModelTask, accepted: boolean): void {
  if (accepted) {
    log(board, 'task.added', task);
    settleDown(board, task);
  } else {
    task.outside = true;
    task.status = 'cancelled';
    log(board, 'task.cancelled', task);
  }
}

/** Back to its next attempt with the answer or the feedback. */
function sendBack(board: ModelBoard, task: ModelTask, rejected: boolean): void {
  const attempt = task.attempts.at(-1);
  if (attempt !== undefined) attempt.answer = 'text';
  if (attempt !== undefined && rejected) attempt.outcome = 'rejected';
  if (rejected) task.requests = [];
  delete task.block;
  rest(board, task);
  log(board, rejected ? 'task.checked' : 'task.unblocked', task);
}

/** Takes a submitted task's checks under a lease of the runner's own. */
export function startChecks(board: ModelBoard, call: Of<'startChecks'>): Answer {
  const task = taskOf(board, call.task);
  if (task === undefined) return refused('not_found');
  const waits = task.status === 'in_review' && task.hold === 'checks' && task.runner === undefined;
  if (hasEnded(board) || board.cancelling || !waits) return { word: 'none' };
  board.runners += 1;
  task.runner = board.runners;
  const end = leaseEnd(board, call.lease);
  if (end !== undefined) task.leaseEnd = end;
  return { word: 'ok', data: { runner: task.runner, version: task.version } };
}

/** The verdict of a runner at the version that it checked. */
export function endChecks(board: ModelBoard, call: Of<'endChecks'>): Answer {
  const task = taskOf(board, call.task);
  if (task === undefined) return refused('not_found');
  if (task.status !== 'in_review' || task.runner !== call.runner) return refused('lease_lost');
  if (board.cancelling) return refused('terminal');
  if (task.version !== call.version) return refused('stale_version');
  delete task.runner;
  delete task.leaseEnd;
  task.version += 1;
  task.strikes = 0;
  task.hold = '';
  log(board, 'task.checked', task);
  if (call.passed) {
    finish(board, task, 'completed', 'task.completed');
    conclude(board);
  } else {
    failReview(board, task, 'check', true, call.delay);
  }
  return { word: 'ok', data: { version: task.version } };
}

export function pause(board: ModelBoard, call: Of<'pause'>): Answer {
  if (hasEnded(board) || board.cancelling) return refused('terminal');
  if (board.pauses.includes(call.cause)) return { word: 'already' };
  board.pauses.push(call.cause);
  log(board, 'job.paused');
  return OK;
}

export function resume(board: ModelBoard, call: Of<'resume'>): Answer {
  if (hasEnded(board)) return refused('terminal');
  return liftPauses(board, call.cause) ? OK : { word: 'already' };
}

/** A flag first: nothing starts any more; the tasks follow in slices. */
export function cancelJob(board: ModelBoard): Answer {
  if (hasEnded(board) || board.cancelling) return { word: 'already' };
  board.cancelling = true;
  board.outbox.push({ kind: 'cancel', task: 0, attempt: 0, dispatch: 0 });
  return OK;
}
