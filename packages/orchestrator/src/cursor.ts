import { CrewboardError, shownLine } from '@crewboard/contracts';

/** The number that a page goes on after; 0 without a cursor. Errors: `invalid_argument`. */
export function numberCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new CrewboardError(
    'invalid_argument',
    `cursor must be a nextCursor of this list, got "${shownLine(cursor, 100)}".`,
    {
      path: 'cursor',
    },
  );
}
