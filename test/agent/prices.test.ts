import { describe, expect, it } from 'vitest';
import { parsePriceFile, usdOf } from '../../packages/agent/src/index.ts';
import type { Usage } from '../../packages/contracts/src/index.ts';

const million: Usage = {
  modelCalls: 1,
  inputTokens: 1_000_000,
  outputTokens: 1_000_000,
  cacheReadTokens: 1_000_000,
  cacheWriteTokens: 1_000_000,
};

describe('the price of usage', () => {
  it.each([
    ['claude-opus-5-5', 4 + 20 + 0.2 + 5],
    ['claude-sonnet-5-5', 2 + 10 + 0.1 + 2.5],
    ['claude-haiku-5-5', 0.1 + 0.5 + 0.01 + 0.125],
    ['claude-fable-5-2', 8 + 40 + 0.2 + 10],
  ])('of %s counts fresh, cached, written and output tokens each at its own price', (model, usd) => {
    expect(usdOf(model, million)).toBeCloseTo(usd, 9);
  });

  it('takes each kind of token by itself', () => {
    const none: Usage = {
      modelCalls: 1,
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
    const of = (part: Partial<Usage>) => usdOf('claude-opus-5-5', { ...none, ...part });
    expect(of({})).toBe(0);
    expect(of({ inputTokens: 1000 })).toBeCloseTo(0.004, 12);
    expect(of({ outputTokens: 1000 })).toBeCloseTo(0.02, 12);
    expect(of({ cacheReadTokens: 1000 })).toBeCloseTo(0.0002, 12);
    expect(of({ cacheWriteTokens: 1000 })).toBeCloseTo(0.005, 12);
  });

  it('is unknown for a model that nobody has priced, however like another it is named', () => {
    expect(usdOf('somebody-elses-model', million)).toBeUndefined();
    expect(usdOf('claude-opus-5-5-turbo', million)).toBeUndefined();
  });

  it('goes by the override file before all else', () => {
    const price = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
    const overrides = parsePriceFile(JSON.stringify({ own: price, 'claude-opus-5-5': price }));
    expect(usdOf('own', million, overrides)).toBe(10);
    expect(usdOf('claude-opus-5-5', million, overrides)).toBe(10);
  });

  it('refuses a file that is not one, naming what is wrong', () => {
    expect(() => parsePriceFile('{')).toThrow(/the price file can't be read/);
    expect(() => parsePriceFile('{"own": {"input": -1}}')).toThrow(/own\.input/);
  });
});
