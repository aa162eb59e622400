/** The three statuses of a checklist item, in the order in which they are counted and shown to models. */
export const TODO_STATUSES = ['pending', 'in_progress', 'completed'] as const;
export type TodoStatus = (typeof TODO_STATUSES)[number];

/** One item of an agent's private checklist. `activeForm` exists in the classic profile only. */
export interface Todo {
  content: string;
  status: TodoStatus;
  activeForm?: string | undefined;
}

/** The names under which the tool is known: its own, and the one that older prompts use. */
export const TODO_TOOL_NAMES = ['todo_write', 'TodoWrite'] as const;
export type TodoToolName = (typeof TODO_TOOL_NAMES)[number];

/** True for `todo_write` and its alias: panel and reminder trigger on the tool's name. */
export function isTodoTool(name: string): name is TodoToolName {
  return TODO_TOOL_NAMES.some((known) => known === name);
}

/** Returns how many items have each status. */
export function countTodos(todos: readonly Todo[]): Record<TodoStatus, number> {
  const counts: Record<TodoStatus, number> = { pending: 0, in_progress: 0, completed: 0 };
  for (const todo of todos) counts[todo.status]++;
  return counts;
}
