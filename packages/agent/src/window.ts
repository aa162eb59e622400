import { calcPrice } from '@pydantic/genai-prices';

/** What every current model has at least. */
const SMALLEST_WINDOW_TOKENS = 200_000;
/** JSON of a conversation holds about this many characters a token; fewer than it mostly is, to be on the safe side. */
const CHARACTERS_PER_TOKEN = 3;

/** The context window of a model in tokens, by its published data; an unknown one is taken to be small. */
export function windowOf(model: string): number {
  const known = calcPrice({}, model, { providerId: 'anthropic' });
  return known?.model.context_window ?? SMALLEST_WINDOW_TOKENS;
}

/** About how many tokens a part of a request takes. */
export function estimateTokens(part: unknown): number {
  return Math.ceil((JSON.stringify(part)?.length ?? 0) / CHARACTERS_PER_TOKEN);
}
