import type { BoardEvent, Task, TaskStatus } from '@crewboard/contracts';

/** Tasks that stand together: those below one parent, or with the same first label. */
export interface Group {
  name: string;
  total: number;
  completed: number;
  failed: number;
  running: number;
}

/** The groups of a board, kept up by its events. */
export interface Groups {
  /** Takes all tasks anew. */
  take(tasks: readonly Task[]): void;
  /** Takes the status that an event tells. */
  apply(event: BoardEvent): void;
  /** In plan order; none when nothing groups the tasks. */
  list(): Group[];
}

interface Member {
  group: string;
  status: TaskStatus;
}

const UNGROUPED = 'others';

/** What each task's group is called; parents before labels. */
function namer(tasks: readonly Task[]): (task: Task) => string | undefined {
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  const hasParents = tasks.some(({ parent }) => parent !== undefined && titles.has(parent));
  if (!hasParents) return ({ labels }) => labels[0];
  const parents = new Set(tasks.map(({ parent }) => parent));
  return ({ id, title, parent }) => (parents.has(id) ? title : parent && titles.get(parent));
}

/** Begins with no task known. */
export function boardGroups(): Groups {
  const members = new Map<string, Member>();
  return {
    take(tasks) {
      members.clear();
      const nameOf = namer(tasks);
      for (const task of tasks)
        members.set(task.id, { group: nameOf(task) ?? UNGROUPED, status: task.status });
    },
    apply({ taskId, status }) {
      const member = taskId === undefined ? undefined : members.get(taskId);
      if (member !== undefined && status !== undefined) member.status = status;
    },
    list() {
      const groups = new Map<string, Group>();
      for (const { group: name, status } of members.values()) {
        const group = groups.get(name) ?? { name, total: 0, completed: 0, failed: 0, running: 0 };
        groups.set(name, group);
        group.total += 1;
        if (status === 'completed') group.completed += 1;
        if (status === 'failed') group.failed += 1;
        if (status === 'in_progress') group.running += 1;
      }
      const found = [...groups.values()];
      return found.some(({ name }) => name !== UNGROUPED) ? found : [];
    },
  };
}
