import type { AgentEnd } from './agent.ts';
import type { ToolCall, Turn } from './conversation.ts';
import type { Run } from './run.ts';
import { isSame, MOST, type Streak, streakOf } from './streak.ts';

function advice({ name }: ToolCall, { times, failures }: Streak): string {
  const what =
    failures >= MOST.failing
      ? `${name} failed ${failures} times with the same input`
      : `you called ${name} ${times} times with the same input`;
  return `Loop guard: ${what}. The same call once more ends your work as failed. Do something else: other input, another tool, or end your task with the true reason.`;
}

/** True when the last turn goes on with what the model had been told of before it. */
function goesOn({ times, timesBefore, failures, failuresBefore }: Streak): boolean {
  const failing = failuresBefore >= MOST.failing && failures > failuresBefore;
  return failing || (timesBefore >= MOST.any && times > timesBefore);
}

/** True when the last turn has come to what the model is told of. */
function isNew({ times, timesBefore, failures, failuresBefore }: Streak): boolean {
  const failing = failures >= MOST.failing && failuresBefore < MOST.failing;
  return failing || (times >= MOST.any && timesBefore < MOST.any);
}

/**
 * Looks for loops in the attempt's answered calls: the same failing call three times or the same call five times is
 * told to the model, in the turn's own message; a later turn with the call once more ends the attempt as class `model`.
 * By the journal alone: done twice it says nothing twice.
 */
export async function guardLoops(run: Run, turns: readonly Turn[]): Promise<AgentEnd | undefined> {
  const last = turns.at(-1);
  if (last === undefined) return undefined;
  const own = turns.filter(({ reply }) => reply.attempt === run.options.attempt);
  for (const [at, call] of last.calls.entries()) {
    if (last.calls.findIndex((other) => isSame(other, call)) !== at) continue;
    const streak = streakOf(run, own, call);
    if (goesOn(streak)) {
      const reason = `the model goes round in circles: ${call.name} with the same input ${streak.times} times, though it was told`;
      return { kind: 'failed', class: 'model', reason };
    }
    if (!isNew(streak)) continue;
    const text = advice(call, streak);
    if (!last.texts.includes(text)) await run.append({ kind: 'message', texts: [text] });
  }
  return undefined;
}
