import { type Conversation, callsOf, type Exchange, errorOf } from './conversation.ts';

/** The most characters that `read_file` gives at once. */
const READ_LIMIT = 100_000;
const HEADER = /^.* · characters (\d+)-(\d+) of (\d+) · \d+ bytes(.*)$/;
const CUT_NOTICE = /\n\[?showing \d+ of \d+ characters\]?\s*$/;
const MAX_TRIES = 2;

/** One answer of `read_file`: the text from `start`, and how long the file is, in UTF-16 code units. */
interface Page {
  start: number;
  text: string;
  total: number;
  /** U+FFFD in the text stands for bytes that are no text. */
  replaced: boolean;
}

/** How far the reading of one file has come. */
export type Reading =
  | { state: 'unread' | 'going'; next: { path: string; offset?: number; limit: number } }
  | { state: 'whole'; text: string; replaced: boolean }
  | { state: 'failed'; reason: string };

/** Reads the header line; the text after it is shorter than the header says when the harness has cut it. */
function readPage(result: string): Page | null {
  const lineEnd = result.indexOf('\n');
  const header = HEADER.exec(lineEnd < 0 ? result : result.slice(0, lineEnd));
  if (header === null) return null;
  const [start, end, total] = header.slice(1, 4).map(Number);
  if (start === undefined || end === undefined || total === undefined) return null;
  const rest = lineEnd < 0 ? '' : result.slice(lineEnd + 1);
  const text = rest.length === end - start ? rest : rest.replace(CUT_NOTICE, '').slice(0, end - start);
  return { start, text, total, replaced: (header[4] ?? '').includes('U+FFFD') };
}

/** Puts pages together from the start on; stops at the first gap. */
function joined(pages: readonly Page[]): string {
  let text = '';
  for (const page of pages.toSorted((a, b) => a.start - b.start)) {
    if (page.start > text.length) break;
    text += page.text.slice(text.length - page.start);
  }
  return text;
}

function failure(refused: readonly Exchange[]): string | null {
  const last = refused.at(-1);
  if (last === undefined) return null;
  const { retry, detail } = errorOf(last);
  const isWorthAnother = retry === 'later' || retry === 'same';
  return isWorthAnother && refused.length < MAX_TRIES ? null : detail;
}

/** Says what the conversation has of the file `path`, and what to read next. */
export function readingOf(conversation: Conversation, path: string): Reading {
  const reads = callsOf(conversation, 'read_file').filter(({ input }) => input.path === path);
  const reason = reads.at(-1)?.isError ? failure(reads.filter(({ isError }) => isError)) : null;
  if (reason !== null) return { state: 'failed', reason };
  const pages = reads.flatMap(({ isError, result }) => (isError ? [] : (readPage(result) ?? [])));
  if (pages.length === 0) {
    const unreadable = reads.find(({ isError }) => !isError);
    if (unreadable !== undefined)
      return { state: 'failed', reason: 'the answer of read_file has no header line' };
    return { state: 'unread', next: { path, limit: READ_LIMIT } };
  }
  const text = joined(pages);
  const total = pages.at(-1)?.total ?? 0;
  if (text.length >= total) return { state: 'whole', text, replaced: pages.some(({ replaced }) => replaced) };
  // A read that brought nothing new would be repeated for ever.
  if (reads.length > 1 && pages.at(-1)?.text === '')
    return { state: 'failed', reason: `read_file stopped at character ${text.length} of ${total}` };
  return { state: 'going', next: { path, offset: text.length, limit: READ_LIMIT } };
}
