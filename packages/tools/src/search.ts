import { setImmediate } from 'node:timers/promises';
import type { RE2JS } from 're2js';
import { decodeUtf8 } from './decode.ts';
import { counted, pairStart, shownName } from './text.ts';

export const MAX_LIMIT = 1000;
/** How much of a line is shown. */
export const LINE_CHARACTERS = 300;
/** How much of a cut line stands before its match. */
const LEAD_CHARACTERS = 100;
/** Where NULs in the first part of a file mean that it is no text. */
const BINARY_SNIFF_BYTES = 8192;
/** Matching holds the event loop, and with it heartbeats, for no longer than about this. */
const SLICE_MS = 20;
// Matching costs at most about (size of the compiled pattern) x (characters): this bounds it for one line.
const LINE_COST = 20_000_000;

/** What one search may cost. */
export interface SearchBounds {
  bytes: number;
  ms: number;
}

/** The part of a line that is shown: its beginning, or the surroundings of a match that lies further on. */
function excerpt(line: string, matchAt: number): string {
  if (line.length <= LINE_CHARACTERS) return line;
  const isEarly = matchAt <= LINE_CHARACTERS - LEAD_CHARACTERS;
  const start = isEarly ? 0 : pairStart(line, matchAt - LEAD_CHARACTERS);
  const end = pairStart(line, Math.min(start + LINE_CHARACTERS, line.length));
  return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`;
}

/** One search: what it found, what it left out, and what it may still cost. */
export class Search {
  readonly rows: string[] = [];
  files = 0;
  matchedFiles = 0;
  binaryFiles = 0;
  cutLines = 0;
  readonly unread: string[] = [];
  stopped: string | undefined;

  private readonly pattern: RE2JS;
  private readonly limit: number;
  private readonly lineCharacters: number;
  private readonly deadlineMs: number;
  private bytesLeft: number;
  private sliceEndMs: number;
  private readonly bounds: SearchBounds;

  constructor(pattern: RE2JS, limit: number, bounds: SearchBounds) {
    this.pattern = pattern;
    this.limit = limit;
    this.bounds = bounds;
    this.lineCharacters = Math.min(1_000_000, Math.floor(LINE_COST / pattern.programSize()));
    this.bytesLeft = bounds.bytes;
    this.deadlineMs = performance.now() + bounds.ms;
    this.sliceEndMs = performance.now() + SLICE_MS;
  }

  /** Searches one file; `stopped` is set when the search must end. */
  async look(path: string, bytes: Buffer, signal: AbortSignal): Promise<void> {
    if (this.bytesLeft <= 0) {
      this.stopped = `stopped after ${this.bounds.bytes} bytes: narrow the glob`;
      return;
    }
    this.bytesLeft -= bytes.length;
    this.files++;
    if (bytes.subarray(0, BINARY_SNIFF_BYTES).includes(0)) this.binaryFiles++;
    else await this.lookAtLines(path, decodeUtf8(bytes).text, signal);
    await this.pause(signal);
  }

  private async lookAtLines(path: string, text: string, signal: AbortSignal): Promise<void> {
    const before = this.rows.length;
    let number = 0;
    for (let start = 0; start < text.length && this.stopped === undefined; ) {
      const newline = text.indexOf('\n', start);
      const end = newline < 0 ? text.length : newline;
      this.lookAtLine(path, ++number, text.slice(start, end).replace(/\r$/, ''));
      start = end + 1;
      await this.pause(signal);
    }
    if (this.rows.length > before) this.matchedFiles++;
  }

  private lookAtLine(path: string, number: number, line: string): void {
    const isCut = line.length > this.lineCharacters;
    if (isCut) this.cutLines++;
    const searched = isCut ? line.slice(0, pairStart(line, this.lineCharacters)) : line;
    if (!this.pattern.test(searched)) return;
    if (this.rows.length === this.limit) {
      const found = counted(this.limit, 'match', 'matches');
      this.stopped = `stopped at ${found}, there are more: narrow the search, or raise limit up to ${MAX_LIMIT}`;
      return;
    }
    const matcher = this.pattern.matcher(searched);
    const matchAt = searched.length > LINE_CHARACTERS && matcher.find() ? matcher.start() : 0;
    this.rows.push(`${shownName(path)}:${number}: ${excerpt(line, matchAt)}`);
  }

  /** Lets other work run when this has held the loop for long, and stops at the deadline. */
  private async pause(signal: AbortSignal): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.sliceEndMs) return;
    if (nowMs > this.deadlineMs) this.stopped ??= `stopped after ${this.bounds.ms} ms: narrow the glob`;
    await setImmediate();
    signal.throwIfAborted();
    this.sliceEndMs = performance.now() + SLICE_MS;
  }

  /** The first line of the answer: counts, then everything that was left out and why. */
  header(): string {
    const parts = [
      `${counted(this.rows.length, 'match', 'matches')} in ${counted(this.matchedFiles, 'file')}`,
      `${counted(this.files, 'file')} searched`,
    ];
    if (this.stopped !== undefined) parts.push(this.stopped);
    if (this.binaryFiles > 0) parts.push(`${counted(this.binaryFiles, 'binary file')} left out`);
    if (this.cutLines > 0) {
      parts.push(
        `${counted(this.cutLines, 'long line')} searched in the first ${this.lineCharacters} characters only`,
      );
    }
    const [first] = this.unread;
    if (first !== undefined) {
      parts.push(`${counted(this.unread.length, 'file or folder', 'files or folders')} not read: ${first}`);
    }
    return parts.join(' · ');
  }
}
