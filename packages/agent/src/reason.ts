import { shownLine } from '@crewboard/contracts';

/** Of one reason, in columns: enough for any message of a provider that says something. */
const REASON_COLUMNS = 500;

/** Words of others as a reason, or part of one: one bounded line without characters that nobody sees. */
export function reasonText(text: string): string {
  return shownLine(text, REASON_COLUMNS);
}
