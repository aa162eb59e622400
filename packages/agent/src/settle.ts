import type { AttemptEnd } from '@crewboard/contracts';
import type { AgentEnd } from './agent.ts';
import { isBlankText, isDropped, isThinking, type ReplyEntry, type Turn } from './conversation.ts';
import { untilAborted } from './linked-abort.ts';
import { guardLoops } from './loop-guard.ts';
import { leavesOpen } from './messages.ts';
import { reasonText } from './reason.ts';
import type { Run } from './run.ts';
import { runCalls } from './turn-calls.ts';

const MAX_CUT_REPLIES = 3;
const MAX_PAUSES = 10;
const MAX_NUDGES = { plain: 2, empty: 1 };

/** How many of the attempt's last turns in a row fulfil `is`. */
function trailing(run: Run, turns: readonly Turn[], is: (turn: Turn) => boolean): number {
  const other = turns.findLastIndex((turn) => turn.reply.attempt !== run.options.attempt || !is(turn));
  return turns.length - 1 - other;
}

/** How many replies in a row were cut at `max_tokens`: the next call allows twice as many for each. */
export function cutReplies(run: Run): number {
  return trailing(run, run.conversation().turns, ({ reply }) => reply.stopReason === 'max_tokens');
}

function endOfTool(end: AttemptEnd): AgentEnd {
  return end.kind === 'parked' ? { ...end, cause: 'tool' } : end;
}

function plainText(reply: ReplyEntry): string {
  return reply.content
    .map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''))
    .join('\n')
    .trim();
}

function isEmpty(reply: ReplyEntry): boolean {
  return reply.content.every((block) => isBlankText(block) || isThinking(block));
}

function nudge(run: Run, empty: boolean): string {
  const enders = run.options.tools.filter((tool) => tool.endsAttempt === true).map((tool) => tool.name);
  const what = empty ? 'Your last reply was empty.' : 'You ended your turn without calling a tool.';
  const how = enders.length === 0 ? '' : ` The work ends only with a call of ${enders.join(' or ')}.`;
  return `${what}${how} Go on with the next tool call.`;
}

/** A turn without calls: the caller may take it as an end, else the model is nudged, a bounded number of times. */
async function settleEnding(run: Run, turns: readonly Turn[], turn: Turn): Promise<AgentEnd | undefined> {
  const askCaller = async () => run.options.plainEnding?.();
  const end = await untilAborted(askCaller(), run.signal);
  if (end !== undefined) return endOfTool(end);
  const empty = isEmpty(turn.reply);
  // A pause is no ending: the model only went on later.
  const ended = turns.filter((each) => !leavesOpen(each));
  const endings = trailing(run, ended, (each) => each.calls.length === 0 && !isDropped(each.reply));
  if (endings > (empty ? MAX_NUDGES.empty : MAX_NUDGES.plain)) {
    const reason = `the model ended ${endings} turns in a row without a tool call`;
    return { kind: 'failed', class: 'model', reason };
  }
  await run.append({ kind: 'message', texts: [nudge(run, empty)] });
  run.emit({ type: 'nudged', empty });
  return undefined;
}

/** A reply that is dropped ends the attempt that got it, or is asked for again; a later attempt passes it over. */
function settleDropped(run: Run, { reply, index }: Turn): AgentEnd | undefined {
  const madeRoom = run.conversation().compactions.done.some((compaction) => compaction.index > index);
  if (reply.attempt !== run.options.attempt) return undefined;
  if (reply.stopReason === 'refusal') {
    return { kind: 'refused', reason: reasonText(`the model refused to go on. ${plainText(reply)}`) };
  }
  if (reply.stopReason === 'model_context_window_exceeded') {
    if (madeRoom) return undefined;
    return { kind: 'context', reason: "the conversation no longer fits the model's window" };
  }
  const cut = cutReplies(run);
  if (cut < MAX_CUT_REPLIES) return undefined;
  return { kind: 'truncated', reason: `${cut} replies in a row were cut at max_tokens` };
}

/**
 * Does everything that the last reply asks for: runs its open calls, nudges, or says how the attempt ends. It goes by
 * the journal alone, so that it is the same right after the reply and after any crash; done twice it changes nothing.
 */
export async function settle(run: Run): Promise<AgentEnd | undefined> {
  const { turns } = run.conversation();
  const turn = turns.at(-1);
  if (turn === undefined) return undefined;
  if (isDropped(turn.reply)) return settleDropped(run, turn);
  if (turn.reply.stopReason === 'pause_turn') {
    const pauses = trailing(run, turns, ({ reply }) => reply.stopReason === 'pause_turn');
    if (pauses > MAX_PAUSES) {
      return { kind: 'failed', class: 'model', reason: `the model paused its turn ${pauses} times in a row` };
    }
    if (turn.calls.length === 0) return undefined;
  }
  if (turn.calls.length > 0) {
    const end = await runCalls(run, turn);
    return end === undefined ? guardLoops(run, run.conversation().turns) : endOfTool(end);
  }
  return turn.texts.length > 0 ? undefined : settleEnding(run, turns, turn);
}
