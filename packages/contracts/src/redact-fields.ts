import { REDACTED } from './redact.ts';

/** Fields that hold nothing else than a secret. */
const NAMES =
  'authorization|proxy-authorization|cookie|set-cookie|x-api-key|api[-_]?key|password|passwd|token|claim[-_]?token|secret';
/**
 * The name of such a field and its colon, in JSON or in JSON that is quoted inside a text, as often as one likes: its
 * quotation marks then have backslashes before them. A run of them is tried at its beginning alone, so that the time
 * grows with the text and not with its square.
 */
const NAMED = new RegExp(`(?<!\\\\)(\\\\*)"(${NAMES})\\1"\\s*:\\s*`, 'gi');
const BETWEEN = /[\s,]*/y;

/** Returns the place of the quotation mark that ends a text begun at `from`, its backslashes before it; -1 when cut off. */
function closingQuote(text: string, from: number, backslashes: number): number {
  // One text in another doubles the backslashes of the inner one and adds one for its quotation mark.
  const unit = backslashes + 1;
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let start = quote;
    while (start > from && text[start - 1] === '\\') start--;
    const run = quote - start + 1;
    const isEscaped = run % unit === 0 && (run / unit) % 2 === 0;
    if (!isEscaped) return quote;
  }
  return -1;
}

/** Returns where a text, or a list of texts, that begins at `from` ends; `from` itself when neither is there. */
function endOfValue(text: string, from: number, mark: string): number {
  const endOfText = (at: number) => {
    const quote = closingQuote(text, at + mark.length, mark.length - 1);
    return quote < 0 ? text.length : quote + 1;
  };
  if (text.startsWith(mark, from)) return endOfText(from);
  if (text[from] !== '[') return from;
  let at = from + 1;
  while (at < text.length) {
    BETWEEN.lastIndex = at;
    at += BETWEEN.exec(text)?.[0].length ?? 0;
    if (!text.startsWith(mark, at)) break;
    at = endOfText(at);
  }
  const bracket = text.indexOf(']', at);
  return bracket < 0 ? text.length : bracket + 1;
}

/**
 * Returns the JSON text without the texts and lists that fields named like secrets hold, at any depth; a value that is
 * cut off goes to the end. Takes time that grows with the length alone.
 */
export function redactFields(json: string): string {
  const kept: string[] = [];
  let done = 0;
  NAMED.lastIndex = 0;
  for (let found = NAMED.exec(json); found !== null; found = NAMED.exec(json)) {
    const mark = `${found[1]}"`;
    const from = NAMED.lastIndex;
    const end = endOfValue(json, from, mark);
    if (end === from) continue;
    kept.push(json.slice(done, from), mark, REDACTED, mark);
    done = end;
    NAMED.lastIndex = end;
  }
  kept.push(json.slice(done));
  return kept.join('');
}
