import { type Boards, withoutAbsent } from '@crewboard/board';
import { CrewboardError, shownLine, type Task, TaskId } from '@crewboard/contracts';

/** Tasks that one search for near IDs looks at, and the IDs that it names, at most. */
const LOOKED_AT_MOST = 1000;
const NAMED_MOST = 5;
const PAGE = 100;
/** Letters that a mistyped ID may have wrong. */
const SLIPS_MOST = 2;

/** True when `a` becomes `b` by at most `slips` letters put in, left out or replaced. */
function isNear(a: string, b: string, slips: number): boolean {
  if (Math.abs(a.length - b.length) > slips) return false;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const [restA, restB] = [a.slice(same), b.slice(same)];
  if (restA === '' || restB === '') return true;
  if (slips === 0) return false;
  return (
    isNear(restA.slice(1), restB.slice(1), slips - 1) ||
    isNear(restA.slice(1), restB, slips - 1) ||
    isNear(restA, restB.slice(1), slips - 1)
  );
}

async function nearestTaskIds(boards: Boards, jobId: string, wanted: string): Promise<string[]> {
  const found: string[][] = Array.from({ length: SLIPS_MOST }, () => []);
  let after: number | undefined = 0;
  for (let seen = 0; seen < LOOKED_AT_MOST && after !== undefined; seen += PAGE) {
    const page = await boards.page(jobId, { after, limit: PAGE });
    for (const { id } of page.tasks) {
      found.find((_, i) => isNear(wanted, id, i + 1))?.push(id);
    }
    after = page.nextAfter;
  }
  return found.flat().slice(0, NAMED_MOST);
}

/**
 * The refusal of an ID that is no task of the board. IDs that differ by a slip of the hand are named as a hint; nothing
 * is ever done to them instead.
 */
export async function noSuchTask(boards: Boards, jobId: string, taskId: string): Promise<CrewboardError> {
  const nearest = await nearestTaskIds(boards, jobId, taskId);
  return new CrewboardError(
    'not_found',
    `no such task ${shownLine(taskId, 200)}.`,
    withoutAbsent({
      next: { call: 'list_tasks' } as const,
      nearest: nearest.length > 0 ? nearest : undefined,
    }),
  );
}

/** One task with its long texts. Errors: `not_found`, with near IDs. */
export async function findTask(boards: Boards, jobId: string, taskId: string): Promise<Task> {
  // A text of another shape may name one of the board's own records.
  const [task] = TaskId.safeParse(taskId).success ? await boards.readTasks(jobId, [taskId], true) : [];
  if (task === undefined) throw await noSuchTask(boards, jobId, taskId);
  return task;
}
