import type { JournalEntry, JsonValue, NewJournalEntry } from '@crewboard/contracts';
import { z } from 'zod';
import { type CheckFailure, failureReason } from './check-failure.ts';

const NAME = 'check/verdict';
const Verdict = z.object({ passed: z.boolean(), reason: z.string().optional() });

/** What the journal keeps of a submission's checks; it never enters the model's messages. */
export function verdictNote(failure: CheckFailure | undefined): NewJournalEntry {
  const data: JsonValue =
    failure === undefined ? { passed: true } : { passed: false, reason: failureReason(failure) };
  return { kind: 'note', name: NAME, data };
}

/** Why the last submission of this conversation did not pass; undefined when it did, or there was none. */
export function lastFailure(entries: readonly JournalEntry[]): string | undefined {
  const start = entries.findLastIndex((entry) => entry.kind === 'start' && entry.fresh);
  const note = entries.slice(start + 1).findLast((entry) => entry.kind === 'note' && entry.name === NAME);
  if (note?.kind !== 'note') return undefined;
  const verdict = Verdict.safeParse(note.data);
  return verdict.success && !verdict.data.passed ? verdict.data.reason : undefined;
}
