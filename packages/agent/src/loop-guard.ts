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
  answer: string;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** The same tool and input, whatever the order of the input's keys. */
function keyOf({ name, input }: ToolCall): string {
  return JSON.stringify([name, sorted(input)]);
}

/** Takes one turn's answered calls into the streaks. */
function countTurn(run: Run, streaks: Map<string, Streak>, turn: Turn): void {
  const before = new Map(streaks);
  for (const call of turn.calls) {
    const result = turn.results.get(call.id);
    if (result === undefined) continue;
    const key = keyOf(call);
    const tool = run.tools.get(call.name);
    const earlier = before.get(key);
    // A wait that brings other news, or a finish refused for other reasons, is no loop.
    const goesOn = earlier !== undefined && (!tool?.endsAttempt || earlier.answer === result.content);
    const { times, failures } = goesOn ? earlier : { times: 0, failures: 0 };
    const changed = tool !== undefined && !tool.readOnly && !result.isError;
    // What was looked up before a change may well be looked up again after it.
    if (changed) for (const other of streaks.keys()) if (other !== key) streaks.delete(other);
    streaks.set(key, {
      call,
      times: times + 1,
      failures: result.isError ? failures + 1 : 0,
      answer: result.content,
    });
  }
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
  const streaks = new Map<string, Streak>();
  for (const turn of turns) if (turn.reply.attempt === run.options.attempt) countTurn(run, streaks, turn);
  const last = turns.at(-1);
  const current = new Set(last?.calls.map(keyOf));
  for (const [key, streak] of streaks) {
    if (!current.has(key)) continue;
    const { call, times, failures } = streak;
    if (failures > MOST.failing || times > MOST.any) {
      const reason = `the model goes round in circles: ${call.name} with the same input ${times} times, though it was told`;
      return { kind: 'failed', class: 'model', reason };
    }
    if (failures !== MOST.failing && times !== MOST.any) continue;
    const text = advice(streak);
    if (last?.texts.includes(text) === false) await run.append({ kind: 'message', texts: [text] });
  }
  return undefined;
}
