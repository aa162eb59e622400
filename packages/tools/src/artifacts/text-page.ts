import { pairStart } from '../text.ts';

/** A page of a text. Places count UTF-16 code units, as the length of a JavaScript string does. */
export interface TextPage {
  start: number;
  end: number;
  /** Of the whole text. */
  total: number;
  /** From `start` up to `end`. */
  text: string;
}

/** Units before and behind the page that are kept, to see whether its ends part a character. */
const MARGIN = 2;

/** Keeps of a long text what is around one page. */
class Window {
  total = 0;
  private kept = '';
  private readonly from: number;
  private readonly to: number;

  constructor(offset: number, limit: number) {
    this.from = Math.max(0, offset - MARGIN);
    this.to = offset + limit + MARGIN;
  }

  take(text: string): void {
    const before = this.total;
    this.total += text.length;
    if (this.total > this.from && before < this.to) {
      this.kept += text.slice(Math.max(0, this.from - before), this.to - before);
    }
  }

  /** The nearest place at or before `at` that parts no surrogate pair. */
  whole(at: number): number {
    return this.from + pairStart(this.kept, at - this.from);
  }

  slice(start: number, end: number): string {
    return this.kept.slice(start - this.from, end - this.from);
  }
}

/**
 * Reads one page of UTF-8 content, without holding more of it than that. Bytes that are not valid UTF-8, and NUL bytes,
 * show as U+FFFD. Both ends move back from the middle of a character of two units, so that pages of a fixed step join
 * to the text; a page of one unit takes a whole pair, so that reading goes on.
 */
export async function readTextPage(
  content: AsyncIterable<Uint8Array>,
  offset: number,
  limit: number,
): Promise<TextPage> {
  // A byte order mark is part of the text.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const window = new Window(offset, limit);
  for await (const bytes of content) window.take(decoder.decode(bytes, { stream: true }));
  window.take(decoder.decode());
  const { total } = window;
  if (offset >= total) return { start: offset, end: offset, total, text: '' };
  const start = window.whole(offset);
  const end = window.whole(Math.min(offset + limit, total));
  const stop = end === start ? Math.min(start + 2, total) : end;
  return { start, end: stop, total, text: window.slice(start, stop).replaceAll('\0', '\ufffd') };
}
