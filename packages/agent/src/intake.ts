import type { ContentBlock } from '@crewboard/contracts';

/** What stands for a result or an answer without any text. */
export const NO_OUTPUT = '(no output)';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Long enough for any character a person sees as one; the segmenter never gets more than two of these. */
const GRAPHEME_WINDOW = 64;

/** Makes `text` what Redis, JSON and the Messages API can all carry: lone surrogates and NUL become U+FFFD. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** Returns the end of the longest start of `text` that has at most `max` code units and splits no character. */
function cutPoint(text: string, max: number): number {
  const from = Math.max(0, max - GRAPHEME_WINDOW);
  const window = text.slice(from, max + GRAPHEME_WINDOW);
  const containing = graphemes.segment(window).containing(max - from);
  const start = from + (containing?.index ?? max - from);
  // A "character" that fills the window is no real one: it is cut, but never inside a surrogate pair.
  if (start > from) return start;
  return /[\udc00-\udfff]/.test(text.charAt(max)) ? max - 1 : max;
}

/**
 * The one place where a tool's output enters a conversation: cleaned, never blank, at most `maxChars` characters
 * (UTF-16 code units) and then with a line that says how much is shown.
 */
export function takeIn(output: string, maxChars: number): string {
  const text = cleanText(output);
  if (text.trim() === '') return NO_OUTPUT;
  if (text.length <= maxChars) return text;
  const end = cutPoint(text, maxChars);
  return `${text.slice(0, end)}\n[showing ${end} of ${text.length} characters]`;
}

/** Cleans texts for a user message and drops blank ones. */
export function takeInTexts(texts: readonly string[]): string[] {
  return texts.map(cleanText).filter((text) => text.trim() !== '');
}

function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), cleanValue(inner)]));
}

/** Cleans all texts of a reply. Thinking is signed and stays as it came. */
export function takeInReply(content: readonly ContentBlock[]): ContentBlock[] {
  return content.map((block) => {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') return block;
    const cleaned = Object.entries(block).map(([key, value]) => [cleanText(key), cleanValue(value)]);
    return { ...Object.fromEntries(cleaned), type: cleanText(block.type) };
  });
}
