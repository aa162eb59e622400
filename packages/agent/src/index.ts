export type { AgentEnd, AgentEvent, AgentLimits, AgentOptions, AgentOutcome } from './agent.ts';
export { createModelCall, type ModelCallOptions } from './anthropic.ts';
export type { CallBudget, Grant, GrantedCall } from './call-budget.ts';
export { nanoUsdOf, type WorstPrice, worstPriceOf } from './call-price.ts';
export type { CallSpent } from './call-spent.ts';
export { openCalls } from './conversation.ts';
export { cleanText } from './intake.ts';
export { untilAborted } from './linked-abort.ts';
export { runAgent } from './loop.ts';
export { OUTCOME_UNKNOWN, toMessages } from './messages.ts';
export {
  type CallOptions,
  type ModelCall,
  ModelCallError,
  type ModelCallErrorKind,
  type ModelReply,
  type ModelRequest,
} from './model-call.ts';
export { ModelPrice, PriceFile, parsePriceFile, usdOf } from './prices.ts';
export { totalsOf } from './run.ts';
export type { WorkState } from './work-state.ts';
