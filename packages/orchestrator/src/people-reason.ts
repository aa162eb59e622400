import type { JobState } from '@crewboard/board';
import { isEnded, shownLine } from '@crewboard/contracts';

/** Of a question in a job's status. */
const QUESTION_COLUMNS = 300;

/** What a board that does not go on by itself waits for; undefined when that is not people. */
function waitingTasks({ counts }: JobState): string | undefined {
  // What agents do is none of these: then it would move by itself.
  const waiting = [
    [counts.blocked, 'blocked'],
    [counts.in_review, 'in review'],
    [counts.ready, 'for people or external holders to claim'],
    [counts.in_progress, 'held by people or external holders'],
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  return waiting.length === 0 ? undefined : `people: ${waiting.join(', ')}`;
}

/** What a job asks people, as far as it does. */
export interface AsksPeople {
  /** How its plan waits for approval. */
  plan: string | undefined;
  /** Questions of its lead that nobody has answered. */
  questions: readonly string[];
}

/** Why a job waits for people, beginning with `people:`; undefined when it does not. */
export function peopleReason(state: JobState, { plan, questions }: AsksPeople): string | undefined {
  if (isEnded(state.status) || state.status === 'accepting') return undefined;
  if (plan !== undefined) return `people: ${plan}`;
  const last = questions.at(-1);
  if (last !== undefined) {
    const more = questions.length > 1 ? ` (and ${questions.length - 1} more)` : '';
    return `people: the lead asks: ${shownLine(last, QUESTION_COLUMNS)}${more}`;
  }
  return state.movesByItself ? undefined : waitingTasks(state);
}
