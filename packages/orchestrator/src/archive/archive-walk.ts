import type { Above, ChainEnd } from '@crewboard/board';
import { isLost, isTerminal, type Task } from '@crewboard/contracts';

/** Tasks that one walk sees at most, as on a board. */
const SEEN_MOST = 20_000;

/** May something stand above it? A cancelled task may have been lost with what it depended on. */
function hasAbove({ status, number, readiness, onDependencyLost }: Task): boolean {
  if (status === 'cancelled') return onDependencyLost === 'cancel';
  return number > 0 && (readiness?.state === 'waiting' || readiness?.state === 'unreachable');
}

/** True when the dependency `above`, under its condition, is what keeps `task` where it is. */
function isAbove(task: Task, above: Task, condition: 'completed' | 'settled'): boolean {
  if (task.readiness?.state === 'waiting') return !isTerminal(above.status);
  if (condition === 'settled' || !isLost(above)) return false;
  return task.status !== 'cancelled' || (above.endedAt ?? '') <= (task.endedAt ?? '');
}

interface Place {
  task: Task;
  /** The dependency of the first task that it stands behind; undefined for that one itself. */
  via: string | undefined;
}

/**
 * Follows the chains above an archived task, as `walkUp` of a board does; `read` brings a task of the archive.
 */
export async function walkUpArchive(
  read: (taskId: string) => Promise<Task | undefined>,
  taskId: string,
  most: number = SEEN_MOST,
): Promise<Above> {
  const first = await read(taskId);
  const places: Place[] = first === undefined ? [] : [{ task: first, via: undefined }];
  const seen = new Set([taskId]);
  const ends: ChainEnd[] = [];
  // Bounded by `most`: each place was seen before.
  for (let at = 0; at < places.length && !ends.some(isLost); at++) {
    const { task, via } = places[at] ?? { task: undefined, via: undefined };
    if (task === undefined) break;
    let isBehind = false;
    for (const { task: id, condition } of hasAbove(task) ? task.dependsOn : []) {
      if (ends.some(isLost)) break;
      const above = await read(id);
      if (above === undefined || !isAbove(task, above, condition)) continue;
      isBehind = true;
      if (seen.has(id)) continue;
      if (seen.size > most) {
        return { ends, seen: seen.size - 1, stoppedAt: { taskId: task.id, via: via ?? id } };
      }
      seen.add(id);
      if (hasAbove(above)) places.push({ task: above, via: via ?? id });
      else ends.push({ taskId: id, via: via ?? id, status: above.status });
    }
    if (!isBehind && via !== undefined) ends.push({ taskId: task.id, via, status: task.status });
  }
  return { ends, seen: seen.size - 1, stoppedAt: undefined };
}
