import type Anthropic from '@anthropic-ai/sdk';
import { countRound, REMINDER_TEXT } from '@crewboard/checklist';
import type { ContentBlock, JournalEntry } from '@crewboard/contracts';
import {
  isBlankText,
  isDropped,
  isThinking,
  readConversation,
  type Spoken,
  type Turn,
} from './conversation.ts';
import { NO_OUTPUT } from './intake.ts';

/** Answers a call whose tool was started and may have had its effect. */
export const OUTCOME_UNKNOWN =
  'outcome unknown: check before repeating. The call was started, and stopped before its result was known.';

/** What the API sent it takes back: a block of a type that we do not know is passed on as it came. */
function isSentBlock(block: ContentBlock): block is ContentBlock & Anthropic.ContentBlockParam {
  return block.type !== '';
}

/** The API refuses a request that ends with white space, and one with a paused reply may end with it. */
function trimmedAtEnd(content: ContentBlock[]): ContentBlock[] {
  const last = content.at(-1);
  if (last?.type !== 'text' || typeof last.text !== 'string') return content;
  return [...content.slice(0, -1), { ...last, text: last.text.trimEnd() }];
}

function assistantContent(turn: Turn): Anthropic.ContentBlockParam[] {
  if (isDropped(turn.reply)) return [];
  const spoken = turn.reply.content.filter((block) => !isBlankText(block));
  if (spoken.every(isThinking)) return [];
  // Always, not only at the end of a request: what was sent once is sent again byte for byte.
  return (leavesOpen(turn) ? trimmedAtEnd(spoken) : spoken).filter(isSentBlock);
}

function resultsOf(turn: Turn): Anthropic.ToolResultBlockParam[] {
  return turn.calls.map((call) => {
    const result = turn.results.get(call.id);
    const content = result?.content ?? OUTCOME_UNKNOWN;
    return {
      type: 'tool_result',
      tool_use_id: call.id,
      content: content.trim() === '' ? NO_OUTPUT : content,
      ...((result?.isError ?? true) ? { is_error: true } : {}),
    };
  });
}

/** A paused reply goes on where it stopped: the next request ends with it. */
export function leavesOpen(turn: Turn): boolean {
  return turn.reply.stopReason === 'pause_turn' && turn.calls.length === 0;
}

function textBlocks(texts: readonly string[]): Anthropic.TextBlockParam[] {
  return texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text', text }));
}

/** Collects messages; what follows in the same role joins the message, so user messages never stand in a row. */
class MessageList {
  readonly messages: { role: 'user' | 'assistant'; content: Anthropic.ContentBlockParam[] }[] = [];

  user(blocks: readonly Anthropic.ContentBlockParam[]): void {
    if (blocks.length === 0) return;
    const last = this.messages.at(-1);
    if (last?.role === 'user') last.content.push(...blocks);
    else this.messages.push({ role: 'user', content: [...blocks] });
  }

  assistant(blocks: Anthropic.ContentBlockParam[]): void {
    if (blocks.length > 0) this.messages.push({ role: 'assistant', content: blocks });
  }
}

/**
 * Returns the messages that a journal stands for. They are always valid: every call is answered once in the next
 * user message, results first and in the order of the calls; no text is empty; replies go back unchanged but for
 * empty texts, and for white space at the end of a paused one. After a paused reply nothing is put in until its turn is over. With `remind`, the checklist's
 * reminder is the last block of every third round without the checklist.
 */
export function toMessages(
  entries: readonly JournalEntry[],
  options: { remind?: boolean } = {},
): Anthropic.MessageParam[] {
  return messagesOf(readConversation(entries), { remind: options.remind === true });
}

/** The messages of {@link toMessages} from a conversation that is read already. */
export function messagesOf(
  { opening, turns }: Spoken,
  options: { remind: boolean },
): MessageList['messages'] {
  const list = new MessageList();
  list.user(textBlocks(opening));
  let held: string[] = [];
  let paused = false;
  let rounds = 0;
  for (const turn of turns) {
    const content = assistantContent(turn);
    list.assistant(content);
    list.user(resultsOf(turn));
    held.push(...turn.texts);
    if (!isDropped(turn.reply)) paused = leavesOpen(turn) && content.length > 0;
    if (paused) continue;
    list.user(textBlocks(held));
    held = [];
    if (turn.calls.length === 0) continue;
    const names = turn.calls.map((call) => call.name);
    const round = countRound(rounds, names);
    rounds = round.counter;
    if (round.remind && options.remind) list.user(textBlocks([REMINDER_TEXT]));
  }
  return list.messages;
}
