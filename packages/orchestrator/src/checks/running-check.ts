import type { AgentOutcome } from '@crewboard/agent';

/** Which check of an attempt's submission runs now, so that an attempt whose time ends there can say so. */
export interface RunningCheck {
  /** Notes that this check begins, or, with undefined, that none runs any more. */
  is(id: string | undefined): void;
  /** The outcome of the run; one whose time ended while a check ran names it. */
  named(outcome: AgentOutcome): AgentOutcome;
}

/** Makes the note of one attempt. */
export function createRunningCheck(): RunningCheck {
  let running: string | undefined;
  return {
    is(id) {
      running = id;
    },
    named(outcome) {
      if (outcome.kind !== 'limit' || outcome.bound !== 'time' || running === undefined) return outcome;
      return { ...outcome, reason: `${outcome.reason}, while its check "${running}" ran` };
    },
  };
}
