import type { Boards } from '@crewboard/board';
import type { Task } from '@crewboard/contracts';

/**
 * What a change that has made `task` pending again means for it, where its fields do not say so by themselves: one that
 * asks to be cancelled with its dependencies does not wait for a lost one to come back. It may be cancelled already:
 * whoever writes what is to be handed on carries it out at once. Undefined: nothing.
 */
export function warningsOf(task: Task): string[] | undefined {
  const isLost = task.readiness?.state === 'unreachable' || task.status === 'cancelled';
  if (task.onDependencyLost !== 'cancel' || !isLost) return undefined;
  return [
    'this task is cancelled at once: a dependency of it is lost, and its onDependencyLost is "cancel". ' +
      'Reopen that dependency first, or set onDependencyLost to "hold".',
  ];
}

/** Tasks that one call looks at for warnings. */
const LOOKED_AT_MOST = 100;

/** The warnings of some tasks that have just been made pending again, each with its task's ID. */
export async function warningsOfAll(
  boards: Boards,
  jobId: string,
  taskIds: readonly string[],
): Promise<string[]> {
  const tasks = (await boards.readTasks(jobId, taskIds.slice(0, LOOKED_AT_MOST), false)).filter(
    (task) => task !== undefined,
  );
  return tasks.flatMap((task) => (warningsOf(task) ?? []).map((warning) => `${task.id}: ${warning}`));
}
