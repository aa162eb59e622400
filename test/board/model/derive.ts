import { type Counts, isEnded, isTerminal, type JobStatus, type Readiness } from '@crewboard/contracts';
import type { Edge, EdgeState, ModelBoard, ModelTask } from './state.ts';

/** What the model never stores: it follows from the tasks. */

export const taskOf = (board: ModelBoard, number: number): ModelTask | undefined =>
  board.tasks.find((task) => task.number === number);

export const leadOf = (board: ModelBoard): ModelTask | undefined => taskOf(board, 0);

/** The board's tasks without the lead. */
export const plannedOf = (board: ModelBoard): ModelTask[] => board.tasks.filter((task) => task.number > 0);

export const isOver = (task: ModelTask): boolean => isTerminal(task.status);
export const hasEnded = (board: ModelBoard): boolean => isEnded(board.status);
export const isOutside = (task: ModelTask): boolean => task.outside || task.hold === 'proposal';

/** True while the board takes claims. */
export const isOpen = (board: ModelBoard): boolean =>
  !hasEnded(board) && !board.cancelling && board.pauses.length === 0 && board.status !== 'accepting';

/** True while all that is pending shows as held: before the start, and under a pause. */
export const holdsAll = (board: ModelBoard): boolean =>
  board.status === 'accepting' || board.pauses.length > 0;

/** An edge's true state: `completed` is met by completion and lost by any other end, `settled` met by any end. */
export function edgeState(board: ModelBoard, edge: Pick<Edge, 'on' | 'condition'>): EdgeState {
  const status = taskOf(board, edge.on)?.status ?? 'pending';
  if (!isTerminal(status)) return 'unmet';
  return edge.condition === 'settled' || status === 'completed' ? 'met' : 'lost';
}

/** Why a pending task can or can't be claimed, pauses apart. */
export function readinessOf(task: ModelTask): Readiness['state'] {
  if (task.hold === 'proposal') return 'held';
  if (task.hold === 'news') return 'waiting';
  if (task.dependsOn.some((edge) => edge.told === 'lost')) return 'unreachable';
  if (task.dependsOn.some((edge) => edge.told === 'unmet')) return 'waiting';
  return task.notBefore === undefined ? 'ready' : 'scheduled';
}

/** The dependencies that stand in a pending task's way. */
export function becauseOf(board: ModelBoard, task: ModelTask): number[] {
  const wanted = readinessOf(task) === 'unreachable' ? 'lost' : 'unmet';
  return task.dependsOn.filter((edge) => edgeState(board, edge) === wanted).map((edge) => edge.on);
}

/** The counts by counting. */
export function countsOf(board: ModelBoard): Counts {
  const counts: Counts = {
    total: 0,
    pending: 0,
    in_progress: 0,
    in_review: 0,
    blocked: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    ready: 0,
    waiting: 0,
    scheduled: 0,
    unreachable: 0,
    held: 0,
  };
  for (const task of plannedOf(board)) {
    if (isOutside(task)) continue;
    counts.total += 1;
    counts[task.status] += 1;
    if (task.status === 'pending') counts[holdsAll(board) ? 'held' : readinessOf(task)] += 1;
  }
  return counts;
}

/** The job's status as people see it. */
export function jobStatusOf(board: ModelBoard): JobStatus {
  return board.pauses.length > 0 && !hasEnded(board) ? 'paused' : board.status;
}

/** True while something is still to be done in slices. */
export const isUnderWay = (board: ModelBoard): boolean =>
  board.slices.length + board.cascades.length + board.losses.length + board.reruns.length > 0;

/** True when no task can go on by itself or by people, and nothing is under way between them. */
export function isStill(board: ModelBoard): boolean {
  if (isUnderWay(board)) return false;
  return plannedOf(board).every((task) => {
    if (isOver(task) || isOutside(task)) return true;
    return task.status === 'pending' && ['waiting', 'unreachable'].includes(readinessOf(task));
  });
}

/** Held by our own harness. */
export const isBuiltIn = (owner: string) => owner.startsWith('sub-agent:') || owner.startsWith('lead:');

/** Tasks that our own queue and workers have. */
export const windowOf = (board: ModelBoard): ModelTask[] =>
  plannedOf(board).filter((task) => task.queued || (task.status === 'in_progress' && isBuiltIn(task.owner)));

/** Edges on a task, in the order in which they were made. */
export function edgesOn(board: ModelBoard, on: number): { dependent: ModelTask; edge: Edge }[] {
  return plannedOf(board)
    .flatMap((dependent) => dependent.dependsOn.map((edge) => ({ dependent, edge })))
    .filter(({ edge }) => edge.on === on)
    .sort((a, b) => a.edge.made - b.edge.made);
}

/** True when `from` depends on `to`, over any number of tasks; `changed` replaces what a task depends on. */
export function dependsOn(
  board: ModelBoard,
  from: number,
  to: number,
  changed: ReadonlyMap<number, readonly number[]> = new Map(),
): boolean {
  const seen = new Set<number>();
  const above = [from];
  for (let number = above.pop(); number !== undefined; number = above.pop()) {
    const next = changed.get(number) ?? taskOf(board, number)?.dependsOn.map((edge) => edge.on) ?? [];
    for (const on of next) {
      if (on === to) return true;
      if (!seen.has(on)) above.push(on);
      seen.add(on);
    }
  }
  return false;
}
