import { z } from 'zod';

/** What a board's model calls cost, in USD; see `Spend`. */
export interface Money {
  settledUsd: number;
  estimatedUsd: number;
  reservedUsd: number;
  wastedUsd: number;
}

const NANO = 1_000_000_000;

/** The sums of a job as its board stores them: the positions of lua/lib/spend.lua. */
export const SpendSums = z.array(z.number()).min(7);

/** Whole nano-USD of an amount in USD. */
export function nanoUsdOf(usd: number): number {
  return Math.round(usd * NANO);
}

/** USD of whole nano-USD. */
export function usdOfNano(nano: number): number {
  return nano / NANO;
}

/** The money of a job's sums. */
export function moneyOf(sums: readonly number[]): Money {
  return { ...costOf(sums), wastedUsd: usdOfNano(sums[6] ?? 0) };
}

/** What a task or an attempt cost, by its sums. */
export function costOf(sums: readonly number[]): Omit<Money, 'wastedUsd'> {
  const [settled = 0, estimated = 0, reserved = 0] = sums;
  return {
    settledUsd: usdOfNano(settled),
    estimatedUsd: usdOfNano(estimated),
    reservedUsd: usdOfNano(reserved),
  };
}
