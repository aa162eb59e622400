import type { ToolCall, Turn } from './conversation.ts';
import { SAME_CALL_REFUSED } from './not-run.ts';
import type { Run } from './run.ts';
import { isSame, MOST, streakOf } from './streak.ts';

/**
 * Says why a call of the turn that the journal ends with is not run, by what stands before it in the journal: the turn
 * has made the same call as often as the model is told of a loop. Undefined for one that is run, as the first of its
 * turn always is: it may fare better than those of earlier turns.
 */
export function repeatRefusal(run: Run, { index }: Turn, call: ToolCall): string | undefined {
  const { turns } = run.conversation();
  const turn = turns.find((each) => each.index === index);
  const at = turn?.calls.findIndex(({ id }) => id === call.id) ?? -1;
  const earlier = turn?.calls.slice(0, at) ?? [];
  const same = earlier.filter((other) => isSame(other, call));
  if (turn === undefined || same.length === 0) return undefined;
  const sameAttempt = turns.filter(({ reply }) => reply.attempt === turn.reply.attempt).slice(0, -1);
  const streak = streakOf(run, [...sameAttempt, { ...turn, calls: earlier }], call);
  const stillRun = same.filter(({ id }) => !turn.results.has(id)).length;
  // How those that run beside it end is not known yet, and must not depend on which of them is first.
  const fails = run.tools.get(call.name)?.readOnly !== true && streak.failures >= MOST.failing;
  return fails || streak.times + stillRun >= MOST.any ? SAME_CALL_REFUSED : undefined;
}
