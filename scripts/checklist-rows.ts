import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lists rows of the checklist's specification that no test names in its title as `[row N]`; ends with 1 when there
 * are any. `npm run rows`
 */

/** The rows about one agent's list and its loop, first to last; the others are about the board. */
const RANGES = [
  [1, 44],
  [58, 66],
  [68, 68],
  [71, 124],
] as const;
const TESTS = join(import.meta.dirname, '../test');
/** A string on one line, with at least one row in it. */
const TITLE = /(['"`])((?:\\.|(?!\1)[^\\\n])*\[row \d+\](?:\\.|(?!\1)[^\\\n])*)\1/g;

function rowsIn(source: string): number[] {
  const titles = [...source.matchAll(TITLE)].map(([, , title = '']) => title);
  return titles.flatMap((title) => [...title.matchAll(/\[row (\d+)\]/g)].map(([, row]) => Number(row)));
}

const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.ts'),
);
const tested = new Set(files.flatMap((name) => rowsIn(readFileSync(join(TESTS, name), 'utf8'))));
const rows = RANGES.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
const missing = rows.filter((row) => !tested.has(row));
process.stdout.write(
  missing.length === 0
    ? `All ${rows.length} rows have a test.\n`
    : `${missing.length} of ${rows.length} rows have no test: ${missing.join(', ')}\n`,
);
process.exitCode = missing.length === 0 ? 0 : 1;
