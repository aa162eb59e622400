import { CrewboardError, type Usage } from '@crewboard/contracts';
import { calcPrice } from '@pydantic/genai-prices';
import { z } from 'zod';

const usd = z.number().nonnegative();

/** USD per million tokens: what is written to and read from the provider's cache apart from what is fresh. */
export const ModelPrice = z.strictObject({
  input: usd,
  output: usd,
  cacheRead: usd,
  cacheWrite: usd,
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/** An override file: prices by the exact name of the model. */
export const PriceFile = z.record(z.string().min(1), ModelPrice);
export type PriceFile = z.infer<typeof PriceFile>;

/** Current models that the price library lacks, or prices like an older one. */
const NEWER_MODELS: Readonly<PriceFile> = {
  'claude-sonnet-5-5': { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
  // Up to 100,000 tokens of prompt; what is beyond costs more: a file can say so.
  'claude-haiku-5-5': { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125 },
  'claude-fable-5-2': { input: 8, output: 40, cacheRead: 0.2, cacheWrite: 10 },
};

const MILLION = 1_000_000;

/**
 * Parses the text of an override file: `{"model": {"input", "output", "cacheRead", "cacheWrite"}}` in USD per million
 * tokens. Throws `invalid_argument` naming what is wrong.
 */
export function parsePriceFile(text: string): PriceFile {
  try {
    return PriceFile.parse(JSON.parse(text));
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    const where = issue === undefined ? String(error) : `${issue.path.join('.')}: ${issue.message}`;
    throw new CrewboardError('invalid_argument', `the price file can't be read: ${where}`, {
      example: { 'my-model': { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 } },
    });
  }
}

function byPrice(price: ModelPrice, usage: Usage): number {
  const micro =
    usage.inputTokens * price.input +
    usage.outputTokens * price.output +
    usage.cacheReadTokens * price.cacheRead +
    usage.cacheWriteTokens * price.cacheWrite;
  return micro / MILLION;
}

/** True for the name itself and for a dated form of it; a likeness is another model at another price. */
export function isSameModel(known: string, model: string): boolean {
  return known === model || new RegExp(`^${known.replaceAll('.', '\\.')}-\\d{8}$`).test(model);
}

/** Prices of the library that do not step with anything: looking one up costs more than a turn may. */
const published = new Map<string, ModelPrice | undefined>();

/** The library's price where it is the same for every call; undefined also for a model that it does not know. */
function publishedPrice(model: string): ModelPrice | undefined {
  if (published.has(model)) return published.get(model);
  const found = calcPrice({}, model, { providerId: 'anthropic' });
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = found?.model_price ?? {};
  const parsed = ModelPrice.safeParse({
    input: input_mtok,
    output: output_mtok,
    cacheRead: cache_read_mtok,
    cacheWrite: cache_write_mtok,
  });
  const isIt = found !== null && isSameModel(found.model.id, model) && parsed.success;
  published.set(model, isIt ? parsed.data : undefined);
  return published.get(model);
}

/**
 * What `usage` of `model` costs in USD: by the override, else by the price library. Undefined when neither knows the
 * model: a guess would break a budget. Prices that step with the length of a prompt need the usage of one call.
 */
export function usdOf(model: string, usage: Usage, overrides: PriceFile = {}): number | undefined {
  const given = overrides[model] ?? NEWER_MODELS[model] ?? publishedPrice(model);
  if (given !== undefined) return byPrice(given, usage);
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const tokens = {
    // The library's input is all of it, cached or not.
    input_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cacheReadTokens,
    cache_write_tokens: cacheWriteTokens,
  };
  const priced = calcPrice(tokens, model, { providerId: 'anthropic' });
  return priced !== null && isSameModel(priced.model.id, model) ? priced.total_price : undefined;
}
