import { isDeepStrictEqual } from 'node:util';
import type { ResultEntry, ToolCall, Turn } from './conversation.ts';
import { isNotRun } from './not-run.ts';
import type { Run } from './run.ts';

/** From so many of the same call on, the model is told; once more, and the attempt ends. */
export const MOST = { failing: 3, any: 5 };

/** How often an attempt has made the same call, and how often it had before its last turn. Refused ones don't count. */
export interface Streak {
  times: number;
  failures: number;
  timesBefore: number;
  failuresBefore: number;
  answer: string | undefined;
}

const NONE: Streak = { times: 0, failures: 0, timesBefore: 0, failuresBefore: 0, answer: undefined };

/** The same tool and input, whatever the order of the input's keys. */
export function isSame(a: ToolCall, b: ToolCall): boolean {
  return a.name === b.name && isDeepStrictEqual(a.input, b.input);
}

function mayEnd(run: Run, call: ToolCall): boolean {
  return run.tools.get(call.name)?.endsAttempt === true;
}

/**
 * True for a call after which `streaking` may well fare otherwise: one that changed something. A checklist or a note is
 * no such thing. What ends an attempt is checked, and a command that failed may have mended what the check looks at;
 * one that keeps failing is a loop of its own.
 */
function changesSomething(run: Run, turn: Turn, call: ToolCall, streaking: ToolCall): boolean {
  const tool = run.tools.get(call.name);
  if (tool === undefined || tool.readOnly || tool.bookkeeping === true) return false;
  if (turn.results.get(call.id)?.isError === false) return true;
  return mayEnd(run, streaking) && !mayEnd(run, call) && turn.started.has(call.id);
}

/** True for an answer that says something new: a wait's other news, but not a refusal's other words. */
function isOtherNews({ answer }: Streak, { content, isError, isNews }: ResultEntry): boolean {
  return answer !== content && (!isError || isNews === true);
}

/** The streak after one more of its call, which `turn` has answered. */
function grown(run: Run, streak: Streak, turn: Turn, call: ToolCall): Streak {
  const result = turn.results.get(call.id);
  if (result === undefined || isNotRun(result)) return streak;
  const from = mayEnd(run, call) && isOtherNews(streak, result) ? NONE : streak;
  const { failures, failuresBefore } = result.isError
    ? { ...from, failures: from.failures + 1 }
    : { failures: 0, failuresBefore: 0 };
  return { ...from, times: from.times + 1, failures, failuresBefore, answer: result.content };
}

/** The calls of a turn that count for `call`: of those that may end the attempt only the first is run. */
function counted(run: Run, turn: Turn, call: ToolCall): readonly ToolCall[] {
  if (!mayEnd(run, call)) return turn.calls;
  const first = turn.calls.findIndex((other) => isSame(other, call));
  return turn.calls.filter((other, at) => at <= first || !isSame(other, call));
}

/** The streak of `call` over `turns`, in the order of their calls. */
export function streakOf(run: Run, turns: readonly Turn[], call: ToolCall): Streak {
  let streak = NONE;
  for (const turn of turns) {
    streak = { ...streak, timesBefore: streak.times, failuresBefore: streak.failures };
    for (const other of counted(run, turn, call)) {
      if (isSame(other, call)) streak = grown(run, streak, turn, other);
      // What was looked up before a change may well be looked up again after it.
      else if (changesSomething(run, turn, other, call)) streak = { ...NONE, answer: streak.answer };
    }
  }
  return streak;
}
