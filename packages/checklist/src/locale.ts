import { countTodos, type Todo } from './todos.ts';

export const LOCALES = ['en', 'zh'] as const;
export type Locale = (typeof LOCALES)[number];

/** The tool's answer to an accepted list: counts only, so it is as short for twenty items as for one. */
export function successLine(todos: readonly Todo[], locale: Locale): string {
  const { pending, in_progress, completed } = countTodos(todos);
  if (locale === 'zh')
    return `待办已更新：${pending} 项待处理，${in_progress} 项进行中，${completed} 项已完成。`;
  return `Updated todo list: ${pending} pending, ${in_progress} in progress, ${completed} completed.`;
}

/** The panel's header: how many of all are completed. */
export function headerLine(todos: readonly Todo[], locale: Locale): string {
  const { completed } = countTodos(todos);
  return locale === 'zh'
    ? `待办（${completed}/${todos.length} 完成）`
    : `Todos (${completed}/${todos.length} completed)`;
}

/** The last line of a panel that shows fewer items than there are. */
export function moreLine(hidden: number, locale: Locale): string {
  return locale === 'zh' ? `… 还有 ${hidden} 项` : `... and ${hidden} more`;
}
