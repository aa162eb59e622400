import type { Readiness } from '@crewboard/contracts';
import { CODES, statusOf } from './codes.ts';

/**
 * Who asks: a person over HTTP, the job's lead, the holder of the task's attempt, or somebody who holds nothing and
 * could claim it.
 */
export type Asker = 'person' | 'lead' | 'holder' | 'claimant';

/** What of a task and its job decides what can be done. */
export interface Asked {
  code: number;
  number: number;
  /** What a task in review waits for: `checks` or `review`. */
  hold: string;
  readiness: Readiness | undefined;
  /** Its job runs one task at a time, and one is in progress. */
  isBehindOne: boolean;
  /** Of the job: an ended one takes only what opens it again, one that is being cancelled nothing. */
  job: 'open' | 'ended' | 'cancelling';
}

const HOLDING = ['heartbeat', 'note', 'submit', 'block', 'fail', 'release'];

/** Decisions about an open task, for people and the lead alike. */
function decisions({ code, hold }: Asked): string[] {
  switch (code) {
    case CODES.in_progress:
      return ['edit', 'cancel'];
    case CODES.in_review:
      return [...(hold === 'review' ? ['approve', 'reject'] : []), 'edit', 'cancel'];
    case CODES.blocked:
      return ['unblock', 'edit', 'set_dependencies', 'cancel'];
    case CODES.proposal:
      return ['approve', 'reject', 'edit', 'cancel'];
    default:
      return ['edit', 'set_dependencies', 'cancel'];
  }
}

function ofPlanner(asked: Asked, isPerson: boolean): string[] {
  const { code, number, job } = asked;
  const isTerminal = [CODES.completed, CODES.failed, CODES.cancelled].some((each) => each === code);
  if (number === 0) return isPerson ? ['read', ...(isTerminal && job !== 'cancelling' ? ['retry'] : [])] : [];
  if (job === 'cancelling' || code === CODES.rejected) return [];
  if (isTerminal) return ['reopen', 'retry'];
  return job === 'open' ? decisions(asked) : [];
}

function canBeClaimed({ job, number, readiness, isBehindOne }: Asked): boolean {
  return job === 'open' && number > 0 && readiness?.state === 'ready' && !isBehindOne;
}

/** The actions on a task that would succeed now, by its status, its readiness, its job and who asks. */
export function allowedActions(asked: Asked, asker: Asker): string[] {
  switch (asker) {
    case 'person':
    case 'lead':
      return ofPlanner(asked, asker === 'person');
    case 'holder':
      return asked.job === 'open' && statusOf(asked.code) === 'in_progress' ? HOLDING : [];
    case 'claimant':
      return canBeClaimed(asked) ? ['claim'] : [];
  }
}
