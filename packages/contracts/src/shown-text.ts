/**
 * Texts of models and callers on a terminal or in a document. They are data: whatever stands in them must not move
 * the cursor, reorder the line, hide text, become markup or break the columns.
 */

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Code units of a text that are looked at for each column wanted: the segmenter must never see a huge text. */
const UNITS_PER_COLUMN = 32;
/** Code points that one character may be made of; a family with four skin tones has 11. */
const CODE_POINTS_AT_MOST = 16;

/** Format characters that belong to how a text is written: joiners, and signs that stand before their digits. */
const WRITTEN = /\u200c|\u200d|[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2]/u;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** The flags of England, Scotland and Wales spell their region in characters that nobody sees. */
const REGION_FLAG = /^\u{1f3f4}[\u{e0061}-\u{e007a}]{1,6}\u{e007f}$/u;
const INVISIBLE = /^(?:\u200c|\u200d|\p{M})+$/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Regional_Indicator}|\ufe0f/u;

/** First and last code point of what East Asian terminals show two columns wide. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];

/** A character by its number, as JSON writes it: `\u001b`, and `\udb40\udc41` for one of two code units. */
export function escapedCharacter(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** One character as a person counts them, as it may be shown. */
function visibleGrapheme(grapheme: string): string {
  if (REGION_FLAG.test(grapheme)) return grapheme;
  const points = Array.from(grapheme);
  // A letter under hundreds of accents covers the lines above and below it.
  if (points.length > CODE_POINTS_AT_MOST) return '\ufffd';
  if (INVISIBLE.test(grapheme)) return points.map(escapedCharacter).join('');
  return points
    .map((point) => (HIDDEN.test(point) && !WRITTEN.test(point) ? escapedCharacter(point) : point))
    .join('');
}

function graphemeColumns(grapheme: string): number {
  if (EMOJI.test(grapheme)) return 2;
  const point = grapheme.codePointAt(0) ?? 0;
  return WIDE.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}

/** The columns that a text takes on a terminal; for texts that are short or already cut. */
export function textColumns(text: string): number {
  let columns = 0;
  for (const { segment } of segmenter.segment(text)) columns += graphemeColumns(segment);
  return columns;
}

/**
 * Returns `text` on one line of at most `maxColumns` terminal columns, cut between characters with an ellipsis.
 * Blanks and line breaks become single spaces; control, bidi and hidden characters are shown as `\uXXXX`.
 */
export function shownLine(text: string, maxColumns: number): string {
  const bounded = text.slice(0, Math.max(1, maxColumns) * UNITS_PER_COLUMN);
  const line = bounded.toWellFormed().replace(/\s+/g, ' ').trim();
  const kept: string[] = [];
  let columns = 0;
  let isCut = bounded.length < text.length;
  for (const { segment } of segmenter.segment(line)) {
    const shown = visibleGrapheme(segment);
    const wide = shown === segment ? graphemeColumns(segment) : textColumns(shown);
    if (columns + wide > maxColumns) {
      isCut = true;
      break;
    }
    kept.push(shown);
    columns += wide;
  }
  if (!isCut) return kept.join('');
  while (kept.length > 0 && columns + 1 > maxColumns) columns -= textColumns(kept.pop() ?? '');
  return `${kept.join('')}…`;
}

/**
 * Returns `text` with control, bidi and hidden characters shown as `\uXXXX`; its line breaks and tabs stay. For texts
 * of our own with words of others in them.
 */
export function visibleText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (point) =>
      point === '\n' || point === '\t' || WRITTEN.test(point) ? point : escapedCharacter(point),
    );
}

/** Fills `text`, which must be at most that wide, with spaces up to `columns`. */
export function padColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textColumns(text)));
}

/** Returns a shown line as Markdown that renders as exactly that text: no markup, HTML, link or mention. */
export function markdownText(line: string): string {
  return line.replace(/[\\`*_[\]<>&|~#!$@^]|:(?=\/\/)|(?<=\bwww)\./gi, '\\$&');
}
