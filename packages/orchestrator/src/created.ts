import type { NewTask, TaskId } from '@crewboard/contracts';

/**
 * The IDs of added tasks by the keys that their caller chose. Made of entries, for a key may be any text: assigning to
 * `__proto__` would lose it.
 */
export function createdByKey(
  tasks: readonly NewTask[],
  added: readonly { taskId: TaskId }[],
): Record<string, TaskId> {
  return Object.fromEntries(
    tasks.flatMap(({ key }, i) => {
      const taskId = added[i]?.taskId;
      return key === undefined || taskId === undefined ? [] : [[key, taskId]];
    }),
  );
}
