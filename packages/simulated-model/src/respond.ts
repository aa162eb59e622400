import { createHash } from 'node:crypto';
import type { ContentBlock } from '@crewboard/contracts';
import { type Conversation, type Move, readConversation } from './conversation.ts';
import { leadMove } from './lead.ts';
import { subAgentMove } from './sub-agent.ts';
import { tokensOf, usageOf } from './usage.ts';
import type { MessagesRequest, ReplyMessage } from './wire.ts';

const BYTES_A_TOKEN = 4;

function nextMove(conversation: Conversation): Move {
  if (conversation.tools.has('finish_job')) return leadMove(conversation);
  if (conversation.tools.has('board_submit')) return subAgentMove(conversation);
  return {
    say: 'This is the simulated model. It can act as a lead or a sub-agent of Crewboard only.',
    calls: [],
  };
}

/** The blocks of `move`. IDs come from the conversation itself, so a repeated request gets the same ones. */
function blocksOf(move: Move, seed: string): ContentBlock[] {
  const text = move.say === undefined ? [] : [{ type: 'text', text: move.say, citations: null }];
  const calls = move.calls.map(({ name, input }, index) => ({
    type: 'tool_use',
    id: `toolu_sim_${seed}_${index}`,
    name,
    input,
    caller: { type: 'direct' },
  }));
  return [...text, ...calls];
}

function blockTokens(block: ContentBlock): number {
  return tokensOf(block.type === 'text' ? String(block.text) : JSON.stringify(block.input));
}

/** Cuts a reply where `maxTokens` ends it; the last block is then partial, as in a real reply. */
function cutTo(
  blocks: readonly ContentBlock[],
  maxTokens: number,
): { content: ContentBlock[]; isCut: boolean } {
  const content: ContentBlock[] = [];
  let left = maxTokens;
  for (const block of blocks) {
    const tokens = blockTokens(block);
    if (tokens <= left) {
      content.push(block);
      left -= tokens;
      continue;
    }
    if (left > 0) content.push(cutBlock(block, left * BYTES_A_TOKEN));
    return { content, isCut: true };
  }
  return { content, isCut: false };
}

function cutBlock(block: ContentBlock, characters: number): ContentBlock {
  if (block.type === 'text')
    return { ...block, text: String(block.text).slice(0, characters).toWellFormed() };
  return { ...block, input: JSON.stringify(block.input).slice(0, characters).toWellFormed() };
}

/**
 * Decides what the simulated model answers. A function of the request alone: it knows nothing but the messages
 * and the tools on offer, so it goes on after any restart.
 */
export function respond(request: MessagesRequest): ReplyMessage {
  const move = nextMove(readConversation(request));
  const seed = createHash('sha256')
    .update(JSON.stringify([request.max_tokens, request.messages]))
    .digest('hex')
    .slice(0, 16);
  const { content, isCut } = cutTo(blocksOf(move, seed), request.max_tokens);
  const outputTokens = Math.min(
    request.max_tokens,
    content.reduce((sum, block) => sum + blockTokens(block), 0),
  );
  return {
    id: `msg_sim_${seed}`,
    model: request.model,
    content,
    stopReason: isCut ? 'max_tokens' : move.calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: usageOf(request, outputTokens),
  };
}
