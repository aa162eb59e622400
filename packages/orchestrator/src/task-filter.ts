import type { RerunWhere, Task } from '@crewboard/contracts';
import { matchesGlob } from './matches-glob.ts';

/** What lists and reruns choose tasks by, besides what the board keeps lists of. */
export type TaskFilter = Pick<RerunWhere, 'key' | 'class'>;

/** True for a task that the filter lets through: the pattern is for the whole key, the class is that of the failure. */
export function fitsFilter({ key, failure }: Task, filter: TaskFilter): boolean {
  if (filter.class !== undefined && failure?.class !== filter.class) return false;
  return filter.key === undefined || (key !== undefined && matchesGlob(filter.key, key));
}

/** The filter as a function; undefined when it lets all tasks through. */
export function sieveOf(filter: TaskFilter): ((task: Task) => boolean) | undefined {
  if (filter.key === undefined && filter.class === undefined) return undefined;
  return (task) => fitsFilter(task, filter);
}
