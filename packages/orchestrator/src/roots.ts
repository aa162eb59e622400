import type { Boards } from '@crewboard/board';
import type { Task } from '@crewboard/contracts';

/** Tasks of a chain that are followed up, and dependencies of one that are looked at, at most. */
const HOPS_MOST = 100;
const DEPENDENCIES_LOOKED_AT = 100;

/** A task that will not be completed, unless somebody opens it again. */
export function isLost(task: Task): boolean {
  return task.status === 'failed' || task.status === 'cancelled';
}

/** True for a task that is pending because of others. */
export function isBehindOthers({ status, readiness, number }: Task): boolean {
  if (status !== 'pending' || number === 0) return false;
  return readiness?.state === 'waiting' || readiness?.state === 'unreachable';
}

/** What explains most about the tasks behind it comes first. */
function rank(task: Task): number {
  if (isLost(task)) return 0;
  const order = ['blocked', 'in_review', 'pending', 'in_progress', 'completed'];
  return 1 + order.indexOf(task.status);
}

/** The tasks that `task` is where it is because of. */
async function above(boards: Boards, jobId: string, task: Task): Promise<Task[]> {
  const { readiness } = task;
  let ids: readonly string[] = [];
  if (readiness?.state === 'unreachable') ids = readiness.because;
  else if (readiness?.state === 'waiting') ids = readiness.on.filter((on) => on !== 'news');
  // One that was cancelled with what it depended on is no root itself.
  else if (task.status === 'cancelled' && task.onDependencyLost === 'cancel')
    ids = task.dependsOn.flatMap((edge) => (edge.condition === 'completed' ? [edge.task] : []));
  const found = await boards.readTasks(jobId, ids.slice(0, DEPENDENCIES_LOOKED_AT), false);
  const tasks = found.filter((each) => each !== undefined);
  return task.status === 'cancelled' ? tasks.filter(isLost) : tasks;
}

export interface Roots {
  /** The tasks at the ends of the chains, the most telling first. */
  roots: Task[];
  /** What the task itself waits for. */
  direct: Task[];
  /** Of a root that is none of these: the one of them that it stands behind. */
  via: Map<string, Task>;
}

/**
 * Follows what a pending task waits for up to the tasks that nothing keeps but themselves, nearest first, until one is
 * found that is lost: that one explains all behind it.
 */
export async function rootsOf(boards: Boards, jobId: string, task: Task): Promise<Roots> {
  const direct = await above(boards, jobId, task);
  const roots: Task[] = [];
  const via = new Map<string, Task>();
  const seen = new Set([task.id, ...direct.map(({ id }) => id)]);
  const open = [...direct];
  for (let hops = 0; hops < HOPS_MOST && !roots.some(isLost); hops++) {
    const at = open.shift();
    if (at === undefined) break;
    const next = isBehindOthers(at) || at.status === 'cancelled' ? await above(boards, jobId, at) : [];
    if (next.length === 0) roots.push(at);
    for (const each of next) {
      if (seen.has(each.id)) continue;
      seen.add(each.id);
      via.set(each.id, via.get(at.id) ?? at);
      open.push(each);
    }
  }
  // A chain longer than that is named up to where it was followed.
  if (roots.length === 0) roots.push(...open.slice(0, 1));
  return { roots: roots.sort((a, b) => rank(a) - rank(b)), direct, via };
}
