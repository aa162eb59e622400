import { calcPrice } from '@pydantic/genai-prices';

/** What every current model has at least. */
const SMALLEST_WINDOW_TOKENS = 200_000;
/** JSON of a conversation holds about this many characters a token; fewer than it mostly is, to be on the safe side. */
const CHARACTERS_PER_TOKEN = 3;

/** The published data never changes while a process runs, and looking a model up costs more than a turn may. */
const known = new Map<string, number>();

/** The context window of a model in tokens, by its published data; an unknown one is taken to be small. */
export function windowOf(model: string): number {
  const before = known.get(model);
  if (before !== undefined) return before;
  const published = calcPrice({}, model, { providerId: 'anthropic' });
  const tokens = published?.model.context_window ?? SMALLEST_WINDOW_TOKENS;
  known.set(model, tokens);
  return tokens;
}

/** About how many tokens a part of a request takes. */
export function estimateTokens(part: unknown): number {
  return Math.ceil((JSON.stringify(part)?.length ?? 0) / CHARACTERS_PER_TOKEN);
}
