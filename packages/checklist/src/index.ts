export type { Locale } from './locale.ts';
export {
  type PanelEntry,
  projectTodos,
  TODO_WRITE_NOTE,
  TURN_END_NOTE,
  TURN_START_NOTE,
  todoWriteEntry,
  unfinishedLines,
  unfinishedWork,
} from './projection.ts';
export { countRound, REMINDER_ROUNDS, REMINDER_TEXT, type ReminderStep } from './reminder.ts';
export { type PanelOptions, renderFolded, renderOutline, renderPlain, renderTerminal } from './render.ts';
export {
  countTodos,
  isTodoTool,
  TODO_STATUSES,
  TODO_TOOL_NAMES,
  type Todo,
  type TodoStatus,
  type TodoToolName,
} from './todos.ts';
export { createTodoWriteTool, type TodoWriteOptions } from './tool.ts';
export {
  createTodoValidator,
  type TodoProfile,
  type TodoRules,
  type TodoValidator,
  type Validation,
} from './validate.ts';
