import { isDeepStrictEqual } from 'node:util';
import type { AgentEnd } from './agent.ts';
import type { ToolCall, Turn } from './conversation.ts';
import type { Run } from './run.ts';

/** From so many of the same call on, the model is told; once more, and the attempt ends. */
const MOST = { failing: 3, any: 5 };

/** How often an attempt has made the same call, one turn counting once. */
interface Streak {
  call: ToolCall;
  times: number;
  failures: number;
  answer: string | undefined;
}

/** The same tool and input, whatever the order of the input's keys. */
function isSame(a: ToolCall, b: ToolCall): boolean {
  return a.name === b.name && isDeepStrictEqual(a.input, b.input);
}

/** True for a call that changed what others may look at; a checklist or a note is no such thing. */
function changesSomething(run: Run, turn: Turn, call: ToolCall): boolean {
  const tool = run.tools.get(call.name);
  const mayChange = tool !== undefined && !tool.readOnly && tool.bookkeeping !== true;
  return mayChange && turn.results.get(call.id)?.isError === false;
}

/** The streak of `call` over the attempt's turns. */
function streakOf(run: Run, turns: readonly Turn[], call: ToolCall): Streak {
  const mayEnd = run.tools.get(call.name)?.endsAttempt === true;
  let streak: Streak = { call, times: 0, failures: 0, answer: undefined };
  for (const turn of turns) {
    const same = turn.calls.find((other) => isSame(other, call));
    // What was looked up before a change may well be looked up again after it.
    if (turn.calls.some((other) => changesSomething(run, turn, other) && !isSame(other, call)))
      streak = { ...streak, times: 0, failures: 0 };
    const result = same === undefined ? undefined : turn.results.get(same.id);
    if (result === undefined) continue;
    // A wait that brings other news, or a finish refused for other reasons, is no loop.
    const goesOn = !mayEnd || streak.answer === result.content;
    streak = {
      call,
      times: goesOn ? streak.times + 1 : 1,
      failures: result.isError ? (goesOn ? streak.failures : 0) + 1 : 0,
      answer: result.content,
    };
  }
  return streak;
}

function advice({ call, times, failures }: Streak): string {
  const what =
    failures >= MOST.failing
      ? `${call.name} failed ${failures} times with the same input`
      : `you called ${call.name} ${times} times with the same input`;
  return `Loop guard: ${what}. The same call once more ends your work as failed. Do something else: other input, another tool, or end your task with the true reason.`;
}

/**
 * Looks for loops in the attempt's answered calls: the same failing call three times or the same call five times is
 * told to the model, in the turn's own message; once more ends the attempt as class `model`. By the journal alone:
 * done twice it says nothing twice.
 */
export async function guardLoops(run: Run, turns: readonly Turn[]): Promise<AgentEnd | undefined> {
  const last = turns.at(-1);
  if (last === undefined) return undefined;
  const own = turns.filter(({ reply }) => reply.attempt === run.options.attempt);
  for (const [at, each] of last.calls.entries()) {
    if (last.calls.findIndex((other) => isSame(other, each)) !== at) continue;
    const streak = streakOf(run, own, each);
    const { call, times, failures } = streak;
    if (failures > MOST.failing || times > MOST.any) {
      const reason = `the model goes round in circles: ${call.name} with the same input ${times} times, though it was told`;
      return { kind: 'failed', class: 'model', reason };
    }
    if (failures !== MOST.failing && times !== MOST.any) continue;
    const text = advice(streak);
    if (!last.texts.includes(text)) await run.append({ kind: 'message', texts: [text] });
  }
  return undefined;
}
