import { textColumns } from '@crewboard/contracts';

/** A word with the blanks before it; a command in backticks is one, so that it can be copied. */
const PIECE = /\s*(?:[^\s`]*`[^`]+`\S*|\S+)/g;
const WORD = /\s*\S+/g;
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts a word that no line holds into parts of at most `columns`. */
function breakWord(word: string, columns: number): string[] {
  const parts: string[] = [];
  let part = '';
  let width = 0;
  for (const { segment } of segmenter.segment(word)) {
    const wide = textColumns(segment);
    if (part !== '' && width + wide > columns) {
      parts.push(part);
      part = '';
      width = 0;
    }
    part += segment;
    width += wide;
  }
  return [...parts, part];
}

/** The pieces of a line that may not be parted: words, and commands as long as a line holds them. */
function piecesOf(line: string, columns: number): string[] {
  const pieces = line.match(PIECE) ?? [];
  return pieces.flatMap((piece) => (textColumns(piece) > columns ? (piece.match(WORD) ?? []) : [piece]));
}

function wrapLine(line: string, columns: number): string[] {
  if (textColumns(line) <= columns) return [line];
  const [blanks = ''] = line.match(/^ */) ?? [];
  const indent = blanks.length < columns / 2 ? blanks : '';
  const lines: string[] = [];
  let current = indent;
  let width = indent.length;
  for (const piece of piecesOf(line.slice(blanks.length), columns - indent.length)) {
    const wide = textColumns(piece);
    if (width + wide <= columns) {
      current += piece;
      width += wide;
      continue;
    }
    if (current !== indent) lines.push(current);
    const parts = breakWord(piece.trimStart(), columns - indent.length).map((part) => indent + part);
    current = parts.pop() ?? indent;
    width = textColumns(current);
    lines.push(...parts);
  }
  return [...lines, current];
}

/**
 * Returns `text` with each line that is longer than `columns` broken between words, its indentation kept; a word that
 * no line holds is broken in itself. Without `columns`, as in a pipe, nothing is broken.
 */
export function wrapText(text: string, columns: number | undefined): string {
  if (columns === undefined || columns < 1) return text;
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, columns))
    .join('\n');
}
