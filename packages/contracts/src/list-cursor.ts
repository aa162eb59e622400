import { CrewboardError } from './errors.ts';
import { shownLine } from './shown-text.ts';

/** What begins the cursors of each list whose places are numbers, so that none passes for one of another list. */
const SIGNS = { tasks: 't', attempts: 'a', artifacts: 'f', entries: 'e', keys: 'k' } as const;
export type NumberedList = keyof typeof SIGNS;

/** The `nextCursor` of a page that ends with the place `number` (from 1 on) of its list. */
export function cursorAfter(list: NumberedList, number: number): string {
  return `${SIGNS[list]}${number}`;
}

/** The place that a page goes on after; 0 without a cursor. Errors: `invalid_argument` for what this list never gave. */
export function placeOf(list: NumberedList, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [sign, digits] = [cursor.slice(0, 1), cursor.slice(1)];
  if (sign === SIGNS[list] && /^[1-9]\d{0,14}$/.test(digits)) return Number(digits);
  throw new CrewboardError(
    'invalid_argument',
    `cursor must be a nextCursor of this list, got "${shownLine(cursor, 100)}".`,
    { path: 'cursor' },
  );
}
