import type { JobState } from '@crewboard/board';
import { isEnded, shownLine } from '@crewboard/contracts';

/** Of a question in a job's status. */
const QUESTION_COLUMNS = 300;

/** What of a job's state lies outside its board record. */
export interface PeopleFacts {
  /** Questions of the lead that nobody has answered. */
  questions: readonly string[];
  /** The lead waits for news; a job without a lead has nobody to be told. */
  isLeadWaiting: boolean;
}

/** True when nothing of the board goes on by itself: only people, or holders outside, can move it. */
export function isUpToPeople({ status, counts, readyOutside, hasNews }: JobState): boolean {
  const { in_progress: running, ready, scheduled, blocked, in_review: inReview } = counts;
  const goesOn = running + scheduled + ready - readyOutside;
  return status === 'running' && goesOn === 0 && blocked + inReview + readyOutside > 0 && !hasNews;
}

function waitingTasks({ counts, readyOutside }: JobState): string {
  const parts = [
    [counts.blocked, 'blocked'],
    [counts.in_review, 'in review'],
    [readyOutside, 'for people or programs outside to claim'],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}

/** Why a job waits for people, beginning with `people:`; undefined when it does not. */
export function peopleReason(state: JobState, { questions, isLeadWaiting }: PeopleFacts): string | undefined {
  if (isEnded(state.status)) return undefined;
  if (state.status === 'awaiting_approval') return 'people: the plan waits for approval';
  const last = questions.at(-1);
  if (last !== undefined) {
    const more = questions.length > 1 ? ` (and ${questions.length - 1} more)` : '';
    return `people: the lead asks: ${shownLine(last, QUESTION_COLUMNS)}${more}`;
  }
  if (!isUpToPeople(state) || (state.lead !== undefined && !isLeadWaiting)) return undefined;
  return `people: ${waitingTasks(state)}`;
}
