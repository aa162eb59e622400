import type { AgentOutcome } from '@crewboard/agent';
import type { FailureClass, JournalEntry } from '@crewboard/contracts';
import { lastFailure } from './verdict-notes.ts';

/** How an agent that gives up has failed: by the check that its last submission did not pass, if there is one. */
export function blamed(
  reason: string,
  entries: readonly JournalEntry[],
): { class: FailureClass; reason: string } {
  const failure = lastFailure(entries);
  return failure === undefined
    ? { class: 'model', reason }
    : { class: 'check', reason: `${reason}\n${failure}` };
}

/** The outcome of a run; one that ends for the model's own reasons after a failed check has failed by that. */
export function blameChecks(outcome: AgentOutcome, entries: readonly JournalEntry[]): AgentOutcome {
  const isModels = outcome.kind === 'failed' && outcome.class === 'model';
  const isOutOfTurns = outcome.kind === 'limit' && outcome.bound === 'turns';
  if (!isModels && !isOutOfTurns) return outcome;
  const { turns, usage } = outcome;
  const { class: failureClass, reason } = blamed(outcome.reason, entries);
  return failureClass === 'model' ? outcome : { kind: 'failed', class: failureClass, reason, turns, usage };
}
