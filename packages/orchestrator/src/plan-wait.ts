import type { Boards, JobState } from '@crewboard/board';
import { shownLine } from '@crewboard/contracts';

/** Of the reason of a lead's failure, in columns. */
const REASON_COLUMNS = 300;
const WAITS = 'the plan waits for approval';

/**
 * Says that the plan of a job waits for approval, and why no lead has made it if the lead failed before: then the tasks
 * that were given are all of the plan.
 */
export async function planWait(boards: Boards, { spec, lead }: JobState): Promise<string> {
  if (lead === undefined) return WAITS;
  const [task] = await boards.readTasks(spec.id, [lead], true);
  if (task?.status !== 'failed') return WAITS;
  const { class: failureClass, reason = '' } = task.failure ?? {};
  const why = reason.trim() === '' ? '' : `: ${shownLine(reason, REASON_COLUMNS).replace(/\.$/, '')}`;
  return `${WAITS}; the lead failed before it made one (${failureClass ?? 'model'})${why}. Approve to run the given tasks without it, or retry it`;
}
