import { COMPACTION_ASKED_NOTE, COMPACTION_DONE_NOTE } from '@crewboard/contracts';
import type { AgentEnd } from './agent.ts';
import type { CompactionAsked, CompactionLog, ReplyEntry } from './compaction-log.ts';
import { isDropped, type Turn } from './conversation.ts';
import { cleanText, takeInReply } from './intake.ts';
import { untilAborted } from './linked-abort.ts';
import { leavesOpen, messagesOf } from './messages.ts';
import type { ModelRequest } from './model-call.ts';
import { withBreakpoint } from './request.ts';
import { callWithRetries } from './retries.ts';
import type { Run } from './run.ts';
import { estimateTokens, windowOf } from './window.ts';
import { renderWorkState } from './work-state.ts';

/** The parts of a request that are the same for a whole run. */
export type RequestPrefix = Pick<ModelRequest, 'model' | 'system' | 'tools'>;

/** Compactions because a call was refused; those of a window that fills are as many as it takes. */
const REFUSED_MOST = 3;
/** Of the window: from here on a conversation is compacted ... */
const FULL_SHARE = 0.75;
/** ... and so much of its end is kept as it is, but never more than this share of all turns. */
const KEPT_SHARE = 0.25;
const KEPT_TURNS_SHARE = 1 / 3;
const SUMMARY_TOKENS = 4096;

const SUMMARY_PROMPT = `The conversation above will be replaced by your summary. Write it for yourself, to go on from it without the conversation. Call no tool. Use exactly these headings, and be concrete (names, paths, IDs, numbers, errors):
## Goal
## Decisions
## Current Work
## Pending Jobs
## Files
## Next Step`;

function windowTokens(run: Run): number {
  return run.options.contextWindow ?? windowOf(run.options.model);
}

function turnTokens({ reply, results, texts }: Turn): number {
  return estimateTokens([reply.content, [...results.values()], texts]);
}

/** The first turn to be kept: as many as fit, never from the middle of a paused turn. */
function firstKept(turns: readonly Turn[], window: number): number {
  const all = turns.reduce((sum, turn) => sum + turnTokens(turn), 0);
  let first = turns.length;
  let left = Math.min(window * KEPT_SHARE, all * KEPT_TURNS_SHARE);
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at];
    if (turn === undefined) break;
    left -= turnTokens(turn);
    const last = at === turns.length - 1;
    if (left < 0 && !(last && leavesOpen(turn))) break;
    const before = turns[at - 1];
    if (before === undefined || !leavesOpen(before)) first = at;
  }
  return first;
}

function textOf(reply: ReplyEntry | undefined): string {
  if (reply === undefined || reply.stopReason === 'refusal') return '';
  return cleanText(
    reply.content
      .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
      .join('\n'),
  ).trim();
}

/** Asks for the summary and journals it as a reply; one that no repetition brings is done without. */
async function summarise(run: Run, prefix: RequestPrefix, keepFrom: number): Promise<AgentEnd | undefined> {
  const { opening, turns } = run.conversation();
  const cut = turns.filter(({ index }) => index < keepFrom);
  const messages = messagesOf({ opening, turns: cut }, { remind: false });
  const ask = { type: 'text' as const, text: SUMMARY_PROMPT };
  const last = messages.at(-1);
  if (last?.role === 'user' && typeof last.content !== 'string') last.content.push(ask);
  else messages.push({ role: 'user', content: [ask] });
  const request = { ...prefix, messages: withBreakpoint(messages), maxTokens: SUMMARY_TOKENS };
  const called = await callWithRetries(run, request);
  if (called.ok) {
    const { content, ...reply } = called.reply;
    await run.append({ kind: 'reply', content: takeInReply(content), ...reply }, called.settles);
    return undefined;
  }
  return called.end.kind === 'context' ? undefined : called.end;
}

/** Carries a compaction out, or goes on with one that an earlier attempt began. */
async function compact(run: Run, prefix: RequestPrefix, asked: CompactionAsked, log: CompactionLog) {
  const data = { keepFrom: asked.keepFrom, refused: asked.refused === true };
  if (log.pending === undefined) await run.append({ kind: 'note', name: COMPACTION_ASKED_NOTE, data });
  if (log.pending?.summary === undefined) {
    const end = await summarise(run, prefix, asked.keepFrom);
    if (end !== undefined) return end;
  }
  const readState = async () => run.options.workState?.(asked.keepFrom);
  const state = await untilAborted(readState(), run.signal);
  const summary = textOf(run.conversation().compactions.pending?.summary);
  const text = [
    'Earlier turns of this conversation were left out to make room. What follows stands for them.',
    ...(summary === '' ? [] : [`<summary>\n${summary}\n</summary>`]),
    ...(state === undefined ? [] : [cleanText(renderWorkState(state))]),
  ].join('\n');
  await run.append({ kind: 'note', name: COMPACTION_DONE_NOTE, data: { ...data, text } });
  run.emit({ type: 'compacted', summarised: summary !== '' });
  return undefined;
}

function toldTokens({ usage }: ReplyEntry): number {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
  return inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens;
}

/** About how many tokens the next request takes: what the last reply reported, and what came after it. */
function nextTokens(run: Run, prefix: RequestPrefix): number {
  const { compactions, opening, turns } = run.conversation();
  const last = turns.findLast(({ reply }) => !isDropped(reply));
  const since = compactions.done.at(-1)?.index ?? -1;
  if (last === undefined || last.index < since) {
    return estimateTokens([prefix.system, prefix.tools, messagesOf({ opening, turns }, { remind: false })]);
  }
  return toldTokens(last.reply) + estimateTokens([[...last.results.values()], last.texts]);
}

/**
 * Compacts the conversation when it fills its share of the model's window and the last time has helped; or when a call
 * was refused because it does not fit (`refusal`): once a refused call, at most three times a conversation. Returns how
 * the attempt ends, if it can't go on.
 */
export async function makeRoom(
  run: Run,
  prefix: RequestPrefix,
  refusal: AgentEnd | undefined,
): Promise<AgentEnd | undefined> {
  const { compactions, turns } = run.conversation();
  if (compactions.pending !== undefined) return compact(run, prefix, compactions.pending, compactions);
  const window = windowTokens(run);
  if (refusal === undefined && nextTokens(run, prefix) < window * FULL_SHARE) return undefined;
  const since = compactions.done.at(-1)?.index ?? -1;
  const next = turns.find(({ index, reply }) => index > since && !isDropped(reply));
  const first = firstKept(turns, window);
  if (next === undefined || first === 0) return refusal;
  // What filled the window again with the first reply would do so for ever: then only a refused call counts.
  const hasHelped = since < 0 || toldTokens(next.reply) < window * FULL_SHARE;
  const refusedBefore = compactions.done.filter(({ refused }) => refused === true).length;
  if (refusal === undefined ? !hasHelped : refusedBefore >= REFUSED_MOST) return refusal;
  const keepFrom = turns[first]?.index ?? run.options.journal.entries.length;
  return compact(run, prefix, { keepFrom, refused: refusal !== undefined }, compactions);
}
