import { NO_USAGE, type Usage } from '@crewboard/contracts';
import { type PriceFile, usdOf } from './prices.ts';

/** Boards count money in these, so that sums are exact. */
const NANO = 1_000_000_000;

/** Up to the next whole number, but not for the noise of floating point. */
const roundedUp = (value: number) => Math.ceil(value - 1e-6);

/** What a call can cost at most, in whole nano-USD: its input as a whole, and each token of output. */
export interface WorstPrice {
  inputNanoUsd: number;
  outputNanoUsd: number;
}

/** What `usage` of one call costs in whole nano-USD; undefined when nobody has priced the model. */
export function nanoUsdOf(model: string, usage: Usage, overrides?: PriceFile): number | undefined {
  const usd = usdOf(model, usage, overrides);
  return usd === undefined ? undefined : Math.round(usd * NANO);
}

/**
 * The worst price of a call with at most `inputTokens` of input: all of it at the dearest of the rates for fresh and for
 * cached input, because what a cache will do is not known before, and writing to it costs more than fresh input.
 */
export function worstPriceOf(
  model: string,
  inputTokens: number,
  maxTokens: number,
  overrides?: PriceFile,
): WorstPrice | undefined {
  const costs = (['inputTokens', 'cacheWriteTokens', 'cacheReadTokens'] as const).map((kind) => ({
    input: usdOf(model, { ...NO_USAGE, [kind]: inputTokens }, overrides),
    all: usdOf(model, { ...NO_USAGE, [kind]: inputTokens, outputTokens: maxTokens }, overrides),
  }));
  const worst: WorstPrice = { inputNanoUsd: 0, outputNanoUsd: 0 };
  for (const { input, all } of costs) {
    if (input === undefined || all === undefined) return undefined;
    worst.inputNanoUsd = Math.max(worst.inputNanoUsd, roundedUp(input * NANO));
    worst.outputNanoUsd = Math.max(worst.outputNanoUsd, roundedUp(((all - input) * NANO) / maxTokens));
  }
  return worst;
}
