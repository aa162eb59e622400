import { isDropped } from './conversation.ts';
import type { ModelRequest } from './model-call.ts';
import { prefixIdOf } from './prefix.ts';
import { isSameModel } from './prices.ts';
import type { Run } from './run.ts';

/** What a provider adds to a request unseen, such as its own words on tools, and what the harness says beside results. */
const UNSEEN_TOKENS = 2048;

/** Every token of a tokenizer stands for at least one byte of the text, so a text has at most as many tokens. */
function bytesOf(part: unknown): number {
  return Buffer.byteLength(JSON.stringify(part) ?? '');
}

/**
 * What the whole request can take by the last reply: that reply's input and output, as its provider counted them, and
 * the bytes of all that has come since. Instructions and tools are in that input, unless they are not the same any more:
 * then they are counted again. Undefined when there is no such reply of this model since the last compaction.
 */
function boundByLastReply(run: Run, { model, system, tools }: ModelRequest): number | undefined {
  const { compactions, turns } = run.conversation();
  const at = turns.findLastIndex(({ reply }) => !isDropped(reply));
  const last = turns[at]?.reply;
  const compactedAt = compactions.done.at(-1)?.index ?? -1;
  if (last === undefined || (turns[at]?.index ?? -1) < compactedAt || !isSameModel(model, last.model)) {
    return undefined;
  }
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = last.usage;
  const since = turns.slice(at).map(({ results, texts }) => [[...results.values()], texts]);
  const changed = last.prefixId === prefixIdOf({ system, tools }) ? [] : [system, tools];
  return inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens + bytesOf([changed, since]);
}

/**
 * An upper bound of the tokens that a request's input takes, without a tokenizer: the bytes of its JSON, or less where
 * a provider has counted most of it before. Holds for texts, the only thing that agents send.
 */
export function inputTokensMost(run: Run, request: ModelRequest): number {
  const { system, tools, messages } = request;
  const whole = bytesOf([system, tools, messages]);
  return Math.min(whole, boundByLastReply(run, request) ?? whole) + UNSEEN_TOKENS;
}
