import type { Boards } from '@crewboard/board';
import { isLost, type Task } from '@crewboard/contracts';
import { tasksText } from './task-state.ts';

/** Of the ends of the chains, those that are read, and dependencies of the task itself. */
const ENDS_READ = 20;
const DIRECT_READ = 20;

/** True for a task that is pending because of others. */
export function isBehindOthers({ status, readiness, number }: Task): boolean {
  if (status !== 'pending' || number === 0) return false;
  return readiness?.state === 'waiting' || readiness?.state === 'unreachable';
}

/** What explains most about the tasks behind it comes first. */
function rank(task: Pick<Task, 'status'>): number {
  if (isLost(task)) return 0;
  const order = ['blocked', 'in_review', 'pending', 'in_progress', 'completed'];
  return 1 + order.indexOf(task.status);
}

/** What the task itself waits for, as far as its readiness names it. */
function directOf({ readiness }: Task): readonly string[] {
  if (readiness?.state === 'unreachable') return readiness.because;
  return readiness?.state === 'waiting' ? readiness.on.filter((on) => on !== 'news') : [];
}

/** The task whose cancel took a cancelled one along; undefined for one that was cancelled by itself. */
async function cancelledWith(boards: Boards, jobId: string, task: Task): Promise<Task | undefined> {
  if (task.status !== 'cancelled') return undefined;
  const first = (await boards.cancelEvent(jobId, task))?.data?.with;
  const [found] = typeof first === 'string' ? await boards.readTasks(jobId, [first], false) : [];
  return found;
}

export interface Roots {
  /** Tasks at the ends of the chains, the most telling first. */
  roots: Task[];
  /** How many ends were found; `roots` holds not all of many. */
  count: number;
  /** What the task itself waits for. */
  direct: Task[];
  /** The dependency of the task that the first root stands behind; absent when the root is one itself. */
  between: Task | undefined;
  /** Where not all above the task was followed: how many tasks were. */
  followed: number | undefined;
}

/** What a line adds where a walk did not go all the way: nobody is to take the task where it ended for the cause. */
export function notFollowed({ followed }: Roots): string {
  if (followed === undefined) return '';
  return `; more than the ${tasksText(followed)} that were followed stand above it, so the cause may be another one`;
}

/**
 * Follows what a task is where it is because of up to the tasks that nothing keeps but themselves, nearest first, until
 * one is found that is lost: that one explains all behind it. At most `most` tasks are followed; a walk that ends
 * there without any end names the task where it stopped.
 */
export async function rootsOf(boards: Boards, jobId: string, task: Task, most?: number): Promise<Roots> {
  const { ends, seen, stoppedAt } = await boards.walkUp(jobId, task.id, most);
  const found = ends.toSorted((a, b) => rank(a) - rank(b)).slice(0, ENDS_READ);
  const named = found.length > 0 || stoppedAt === undefined ? found : [stoppedAt];
  const through = named.slice(0, 1).flatMap(({ taskId, via }) => (via === taskId ? [] : [via]));
  const direct = directOf(task).slice(0, DIRECT_READ);
  const endIds = named.map(({ taskId }) => taskId);
  const read = await boards.readTasks(jobId, [...endIds, ...direct, ...through], false);
  const tasks = new Map(read.filter((each) => each !== undefined).map((each) => [each.id, each]));
  const known = (ids: readonly string[]) =>
    ids.map((id) => tasks.get(id)).filter((each) => each !== undefined);
  const roots = known(endIds);
  const [end] = roots;
  const first = end === undefined ? undefined : await cancelledWith(boards, jobId, end);
  return {
    roots: first === undefined ? roots : [first, ...roots],
    count: ends.length,
    direct: known(direct),
    between: known(through)[0] ?? (first === undefined ? undefined : end),
    followed: stoppedAt === undefined ? undefined : seen,
  };
}
