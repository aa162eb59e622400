import {
  createTodoWriteTool,
  type Todo,
  type TodoStatus,
  type TodoWriteOptions,
} from '../../packages/checklist/src/index.ts';

/** A tool and every list it handed on. */
export function recordingChecklist(options: Partial<TodoWriteOptions> = {}) {
  const updates: (readonly Todo[])[] = [];
  const tool = createTodoWriteTool({
    allowParallelInProgress: true,
    onUpdate: (todos) => void updates.push(todos),
    ...options,
  });
  const write = (input: unknown) =>
    tool.execute(input, { signal: new AbortController().signal, toolUseId: 'c1', requestId: '1/c1' });
  return { tool, updates, write };
}

export function todo(content: string, status: TodoStatus = 'pending'): Todo {
  return { content, status };
}

/** `count` different todos. */
export function todos(count: number, status: TodoStatus = 'pending'): Todo[] {
  return Array.from({ length: count }, (_, at) => todo(`item ${at}`, status));
}
