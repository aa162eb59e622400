import type { ErrorCode } from '@crewboard/contracts';
import type { Answer } from './calls.ts';
import { hasEnded, isOver, taskOf } from './derive.ts';
import type { ModelBoard, ModelTask } from './state.ts';

/**
 * The order of refusals that the design fixes: shape, job, task, token, requestId, token outdated, terminal, version,
 * transition.
 */

export const refused = (code: ErrorCode): Answer => ({ word: 'refused', data: code });
export const OK: Answer = { word: 'ok' };

interface HolderCall {
  /** With a request ID it is part of the call's name. */
  do?: string;
  task: number;
  claim: number;
  request?: string;
  version?: number | undefined;
}

/** What stands against a holder's call, or the task that it is about. */
export function holderTask(board: ModelBoard, call: HolderCall): Answer | ModelTask {
  const task = taskOf(board, call.task);
  if (task === undefined) return refused('not_found');
  if (!task.attempts.some((attempt) => attempt.claim === call.claim)) return refused('not_owner');
  const earlier = task.requests.find(({ request }) => request === call.request);
  if (earlier !== undefined) {
    if (earlier.action !== call.do) return refused('idempotency_mismatch');
    return { word: 'already', data: { version: task.version } };
  }
  if (task.claim !== call.claim) return refused('lease_lost');
  if (hasEnded(board) || board.cancelling) return refused('terminal');
  if (call.version !== undefined && call.version !== task.version) return refused('stale_version');
  return task;
}

export const isAnswer = (value: Answer | ModelTask): value is Answer => 'word' in value;

/** Remembers a holder's call as carried out. */
export function remember(task: ModelTask, call: { do: string; request: string }): void {
  task.requests.push({ request: call.request, action: call.do });
}

/**
 * What was answered to a person's or the lead's call of this name; a refusal when it was another call, undefined when
 * there was none. The lead's names and people's never meet.
 */
export function earlierAnswer(board: ModelBoard, name: string | undefined, content: string) {
  const earlier = name === undefined ? undefined : board.answers.find(({ request }) => request === name);
  if (earlier === undefined) return undefined;
  return earlier.content === content ? { data: earlier.data } : refused('idempotency_mismatch');
}

/** The name of a call by a person or, with its claim, the lead. */
export function nameOf(call: { lead?: number; request?: string }): string | undefined {
  return call.request === undefined
    ? undefined
    : `${call.lead === undefined ? 'person' : 'lead'}/${call.request}`;
}

/** What stands against a change at a version that somebody saw; `terminal` is what reopen and retry need. */
export function changeRefusal(
  task: ModelTask | undefined,
  version: number,
  terminal: boolean,
): Answer | undefined {
  if (task === undefined) return refused('not_found');
  if (!terminal && isOver(task)) return refused('terminal');
  if (task.version !== version) return refused('stale_version');
  if (terminal && (!isOver(task) || task.outside)) return refused('invalid_transition');
  return undefined;
}

/** What stands against a write that the lead's claim proves. */
export function leadRefusal(board: ModelBoard, claim: number | undefined): Answer | undefined {
  if (claim === undefined) return undefined;
  const lead = holderTask(board, { task: 0, claim });
  return isAnswer(lead) ? lead : undefined;
}
