import type { JournalEntry } from '@crewboard/contracts';
import { takeInTexts } from './intake.ts';
import type { Run } from './run.ts';
import { endedCallOf } from './turn-calls.ts';

function isSpoken(entry: JournalEntry): boolean {
  return entry.kind === 'message' || entry.kind === 'reply';
}

/** Journals a user message of the texts that are not blank, if any. */
export async function deliver(run: Run, texts: readonly string[]): Promise<void> {
  const clean = takeInTexts(texts);
  if (clean.length > 0) await run.append({ kind: 'message', texts: clean });
}

/**
 * Brings the journal to the point from which the attempt goes on: a fresh start if asked for, the opening of an empty
 * conversation, or what is new in an existing one. What this attempt has done before a crash is not done again.
 */
export async function begin(run: Run): Promise<void> {
  const { attempt, continuation = [], endedCallAnswer, fresh, journal, opening } = run.options;
  const own = (entry: JournalEntry) => entry.attempt === attempt;
  const startedAnew = journal.entries.some((entry) => entry.kind === 'start' && entry.fresh && own(entry));
  if (fresh === true && !startedAnew) await run.append({ kind: 'start', fresh: true });
  const conversation = run.conversation();
  if (conversation.opening.length === 0 && conversation.turns.length === 0) return deliver(run, opening);
  if (journal.entries.some((entry) => isSpoken(entry) && own(entry))) return;
  // The news for a call that is not there, because the model had ended its turn in plain text, is a message.
  const unasked = endedCallAnswer !== undefined && endedCallOf(run, conversation.turns.at(-1)) === undefined;
  await deliver(run, unasked ? [endedCallAnswer, ...continuation] : continuation);
}
