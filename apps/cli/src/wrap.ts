import { textColumns } from '@crewboard/contracts';

/** A word with the blanks before it; a command in backticks is one, which is copied and must get no line feed. */
const PIECE = /\s*(?:`(?:npx|crewboard|curl) [^`]+`\S*|\S+)/g;
const COMMAND = /^`(?:npx|crewboard|curl) /;
const PLAIN = /^[\x20-\x7e]*$/;
/** Code units of a text that are looked at for each column: segmenting takes more than its share for long ones. */
const UNITS_PER_COLUMN = 32;
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The columns that `text` takes; infinitely many where it is far longer than `most`. */
function columnsOf(text: string, most: number): number {
  if (PLAIN.test(text)) return text.length;
  return text.length > most * UNITS_PER_COLUMN ? Number.POSITIVE_INFINITY : textColumns(text);
}

/** How much of the start of `text` takes at most `columns`, in code units; one character at least. */
function fittingUnits(text: string, columns: number): number {
  let width = 0;
  for (const { segment, index } of segmenter.segment(text.slice(0, columns * UNITS_PER_COLUMN))) {
    width += textColumns(segment);
    if (width > columns && index > 0) return index;
  }
  return columns * UNITS_PER_COLUMN;
}

/** Cuts a word that no line holds into parts of at most `columns`. */
function breakWord(word: string, columns: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < word.length; ) {
    const units = fittingUnits(word.slice(at, at + columns * UNITS_PER_COLUMN), columns);
    parts.push(word.slice(at, at + units));
    at += units;
  }
  return parts;
}

function wrapLine(line: string, columns: number): string[] {
  if (columnsOf(line, columns) <= columns) return [line];
  const [blanks = ''] = line.match(/^ */) ?? [];
  const indent = blanks.length < columns / 2 ? blanks : '';
  const room = columns - indent.length;
  const lines: string[] = [];
  let current = '';
  for (const piece of line.slice(blanks.length).match(PIECE) ?? []) {
    if (columnsOf(current + piece, room) <= room) {
      current += piece;
      continue;
    }
    if (current !== '') lines.push(current);
    const word = piece.trimStart();
    const parts = COMMAND.test(word) ? [word] : breakWord(word, room);
    current = parts.pop() ?? '';
    lines.push(...parts);
  }
  return [...lines, current].map((text) => indent + text);
}

/**
 * Returns `text` with each line that is longer than `columns` broken between words, its indentation kept. A word that
 * no line holds is broken in itself, and such a command in backticks is left to the terminal. Without `columns`, as in a
 * pipe, nothing is broken.
 */
export function wrapText(text: string, columns: number | undefined): string {
  if (columns === undefined || columns < 1) return text;
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, columns))
    .join('\n');
}
