import { isAbsolute, relative } from 'node:path';
import { textColumns, visibleText } from '@crewboard/contracts';

/**
 * Returns `text` with control, bidi and hidden characters shown as `\uXXXX`, so that titles and summaries written by
 * models can't move the cursor, recolour or reorder what the terminal shows. Line feeds and tabs stay.
 */
export function safeText(text: string): string {
  return visibleText(text.replaceAll('\r\n', '\n'));
}

/** JSON of `value` on one line with unsafe characters as `\uXXXX`, which JSON reads back as what they were. */
export function safeJson(value: unknown): string {
  return safeText(JSON.stringify(value));
}

/** Like {@link safeText}, on one line and cut to `maxCharacters` code points with an ellipsis. */
export function safeLine(text: string, maxCharacters = 200): string {
  // Bounded first: the text may be a model's and as long as it likes.
  const start = text.slice(0, maxCharacters * 8);
  const characters = Array.from(safeText(start.replace(/\s+/g, ' ').trim()));
  if (characters.length <= maxCharacters && start.length === text.length) return characters.join('');
  return `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

/** Renders rows as columns two spaces apart; numbers are right-aligned. The first row is the heading. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, textColumns(String(cell)));
    });
  }
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return typeof cell === 'number'
          ? String(cell).padStart(width)
          : cell + ' '.repeat(Math.max(0, width - textColumns(cell)));
      })
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}

/** Returns `path` as one would type it here: relative where it lies below the working directory. */
export function shortPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere === '' || fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}

/** `1` -> "1 task", `2` -> "2 tasks". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** How long ago something was, roughly: "12 s", "3 min", "2 h", "5 d". */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** A duration for people: "850 ms", "12 s", "3 min 5 s", "2 h 10 min". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
