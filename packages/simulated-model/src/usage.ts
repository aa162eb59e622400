import { utf8Bytes } from '@crewboard/contracts';
import type { MessagesRequest, WireUsage } from './wire.ts';

/** Prefixes shorter than this are not cached by the API. */
const MIN_CACHED_TOKENS = 1024;
const BYTES_A_TOKEN = 4;

/** A plausible number of tokens of `text`: a quarter of its bytes. */
export function tokensOf(text: string): number {
  return Math.ceil(utf8Bytes(text) / BYTES_A_TOKEN);
}

function jsonTokens(value: unknown): number {
  return value === undefined ? 0 : tokensOf(JSON.stringify(value));
}

function hasBreakpoint(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasBreakpoint);
  if (typeof value !== 'object' || value === null) return false;
  if ('cache_control' in value && value.cache_control) return true;
  return 'content' in value && hasBreakpoint(value.content);
}

/** How many messages stand before the last reply: what an earlier request of this conversation has sent. */
function messagesSentBefore({ messages }: MessagesRequest): number {
  return Math.max(0, messages.map(({ role }) => role).lastIndexOf('assistant'));
}

/**
 * Returns plausible token counts. A conversation's earlier requests are taken as cached when it sets cache
 * breakpoints: what they sent is read from the cache, and what is new up to the last breakpoint is written to it.
 */
export function usageOf(request: MessagesRequest, outputTokens: number): WireUsage {
  const fixed = jsonTokens(request.system) + jsonTokens(request.tools);
  const sizes = request.messages.map(jsonTokens);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const total = fixed + sum(sizes);
  const last = request.messages.findLastIndex(hasBreakpoint);
  const isFixedCached = hasBreakpoint(request.system) || hasBreakpoint(request.tools);
  const wholePrefix = 'cache_control' in request ? total : null;
  const cached =
    wholePrefix ?? (last >= 0 ? fixed + sum(sizes.slice(0, last + 1)) : isFixedCached ? fixed : 0);
  const prefix = cached >= MIN_CACHED_TOKENS ? cached : 0;
  const before = messagesSentBefore(request);
  const read = before === 0 ? 0 : Math.min(prefix, fixed + sum(sizes.slice(0, before)));
  return {
    input_tokens: Math.max(1, total - prefix),
    output_tokens: Math.max(1, outputTokens),
    cache_read_input_tokens: read >= MIN_CACHED_TOKENS ? read : 0,
    cache_creation_input_tokens: prefix - (read >= MIN_CACHED_TOKENS ? read : 0),
  };
}
