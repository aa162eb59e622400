import type { ContentBlock, ToolAnswer, WholeOutput } from '@crewboard/contracts';
import { DEEP_INPUT, DEEP_VALUE, isTooDeep, MAX_DEPTH } from './depth.ts';

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

/** Keeps a whole output; answers the ref to read it by, undefined when it can't be kept. */
export type Keep = (whole: WholeOutput) => Promise<string | undefined>;

/** What the last line of an output says that is not shown whole: how much is, and how to get at the rest. */
function noteOn(shown: { end: number; of: number }, ref: string | undefined, whole: WholeOutput | undefined) {
  const isCut = shown.end < shown.of;
  const showing = isCut ? [`showing ${shown.end} of ${shown.of} characters`] : [];
  const read = `read_artifact ${JSON.stringify({ ref })}`;
  let rest = `${read} from offset ${shown.end}`;
  if (ref === undefined) rest = 'the whole could not be kept';
  else if (whole !== undefined)
    rest =
      whole.path === undefined ? `${read} has all of it` : `the file itself, unchanged, is artifact ${ref}`;
  return [...showing, rest].join('; ');
}

/**
 * Like {@link takeIn}, and what the conversation does not hold exactly is kept: the whole text of one that is cut, the
 * bytes of a file that can't be shown as it is. The last line says how to get at it.
 */
export async function takeInWhole(
  { content, whole }: Pick<ToolAnswer, 'content' | 'whole'>,
  maxChars: number,
  keep: Keep,
): Promise<string> {
  const text = cleanText(content);
  const isWhole = text.length <= maxChars || text.trim() === '';
  if (isWhole && whole === undefined) return takeIn(content, maxChars);
  const end = text.length <= maxChars ? text.length : cutPoint(text, maxChars);
  const ref = await keep(whole ?? { content: text });
  return `${text.slice(0, end)}\n[${noteOn({ end, of: text.length }, ref, whole)}]`;
}

/** Cleans texts for a user message and drops blank ones. */
export function takeInTexts(texts: readonly string[]): string[] {
  return texts.map(cleanText).filter((text) => text.trim() !== '');
}

/** Cleans `value`, which may be nested `levels` deep; what is deeper is left out. */
function cleanValue(value: unknown, levels = MAX_DEPTH): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return DEEP_VALUE;
  if (Array.isArray(value)) return value.map((inner) => cleanValue(inner, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [cleanText(key), cleanValue(inner, levels - 1)]),
  );
}

/** Half an input would be another call: one that is too deep is left out whole. */
function boundedInput(block: ContentBlock): ContentBlock {
  return block.type === 'tool_use' && isTooDeep(block.input) ? { ...block, input: DEEP_INPUT } : block;
}

/**
 * Cleans all texts of a reply, and leaves out what is nested too deep to be journalled, sent back and read again.
 * Thinking is signed and stays as it came.
 */
export function takeInReply(content: readonly ContentBlock[]): ContentBlock[] {
  return content.map((block) => {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') return block;
    const cleaned = Object.entries(boundedInput(block)).map(([key, value]) => [
      cleanText(key),
      cleanValue(value),
    ]);
    return { ...Object.fromEntries(cleaned), type: cleanText(block.type) };
  });
}
