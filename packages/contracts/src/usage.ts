import { z } from 'zod';

const count = z.number().int().nonnegative();

/** Tokens of model calls: `inputTokens` are fresh ones only, cached ones are counted apart. */
export const Usage = z.strictObject({
  modelCalls: count,
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
});
export type Usage = z.infer<typeof Usage>;

/** Usage of nothing. */
export const NO_USAGE: Usage = {
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Returns the sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  };
}

/** All tokens of a usage, cached ones too: what a budget in tokens counts. */
export function tokensOf(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** A cap in USD: boards count whole nano-USD, exactly up to some millions. */
export const BudgetUsd = z.number().min(0.000001).max(1_000_000);

const usd = z.number().nonnegative();

/** Usage with what it cost: settled by reported usage, estimated and reserved at the worst case where there is none yet. */
export const PaidUsage = z.strictObject({
  ...Usage.shape,
  settledUsd: usd.optional(),
  estimatedUsd: usd.optional(),
  reservedUsd: usd.optional(),
});
export type PaidUsage = z.infer<typeof PaidUsage>;

/** What a job has spent; `settled` by reported usage, `estimated` where a sent call's usage is unknown. */
export const Spend = z.strictObject({
  settledUsd: z.number().nonnegative(),
  estimatedUsd: z.number().nonnegative(),
  reservedUsd: z.number().nonnegative(),
  wastedUsd: z.number().nonnegative(),
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
});
export type Spend = z.infer<typeof Spend>;
