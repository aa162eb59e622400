import type { Usage } from '@crewboard/contracts';
import type { CallSpent } from './call-spent.ts';

/** No model call takes or writes so many tokens: what a server reports beyond is held here, so that sums stay sums. */
const TOKENS_MOST = 100_000_000;

function plausible(tokens: number): number {
  return Number.isInteger(tokens) ? Math.min(Math.max(tokens, 0), TOKENS_MOST) : 0;
}

/** One call's usage as it may be booked: at most 100 million tokens of each kind, and 0 for what is no count. */
export function plausibleUsage(usage: Usage): Usage {
  return {
    modelCalls: usage.modelCalls,
    inputTokens: plausible(usage.inputTokens),
    outputTokens: plausible(usage.outputTokens),
    cacheReadTokens: plausible(usage.cacheReadTokens),
    cacheWriteTokens: plausible(usage.cacheWriteTokens),
  };
}

/** The same of what is known of a failed call. */
export function plausibleSpent(spent: CallSpent): CallSpent {
  return 'usage' in spent ? { ...spent, usage: plausibleUsage(spent.usage) } : spent;
}
