import { escapedCharacter } from '@crewboard/contracts';
import { headerLine, type Locale, moreLine } from './locale.ts';
import { countTodos, type Todo, type TodoStatus } from './todos.ts';

export interface PanelOptions {
  locale?: Locale;
  /**
   * Shows at most so many items and how many more there are; the list itself is not touched. Less than none are none,
   * and what is no number limits nothing.
   */
  maxItems?: number;
}

const PLAIN_MARKS: Record<TodoStatus, string> = { completed: '[x]', in_progress: '[>]', pending: '[ ]' };
const TERMINAL_MARKS: Record<TodoStatus, { mark: string; colour: number }> = {
  completed: { mark: '☑', colour: 32 },
  in_progress: { mark: '▶', colour: 33 },
  pending: { mark: '☐', colour: 90 },
};

/** Control and bidi characters are shown as escapes: contents are a model's data, not terminal commands. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, escapedCharacter);
}

function panel(todos: readonly Todo[], options: PanelOptions, line: (todo: Todo) => string): string {
  const { locale = 'en', maxItems = todos.length } = options;
  const most = Number.isNaN(maxItems) ? todos.length : Math.max(0, maxItems);
  const shown = todos.slice(0, most);
  const hidden = todos.length - shown.length;
  const lines = [headerLine(todos, locale), ...shown.map(line)];
  if (hidden > 0) lines.push(moreLine(hidden, locale));
  return lines.join('\n');
}

/** Renders the list for logs and plain text: `[x]`, `[>]`, `[ ]`. Only reads. */
export function renderPlain(todos: readonly Todo[], options: PanelOptions = {}): string {
  return panel(todos, options, (todo) => `${PLAIN_MARKS[todo.status]} ${visible(todo.content)}`);
}

/** Renders the list for a terminal; an item in progress shows its activeForm where it has one. Only reads. */
export function renderTerminal(todos: readonly Todo[], options: PanelOptions & { colours: boolean }): string {
  return panel(todos, options, (todo) => {
    const { mark, colour } = TERMINAL_MARKS[todo.status];
    const text = todo.status === 'in_progress' ? (todo.activeForm ?? todo.content) : todo.content;
    const sign = options.colours ? `\u001b[${colour}m${mark}\u001b[0m` : mark;
    return `${sign} ${visible(text)}`;
  });
}

/** The one-line form of a folded panel, such as `2 done, 1 active, 3 pending`; counts of zero are left out. */
export function renderFolded(todos: readonly Todo[]): string {
  const counts = countTodos(todos);
  const parts = [
    { count: counts.completed, word: 'done' },
    { count: counts.in_progress, word: 'active' },
    { count: counts.pending, word: 'pending' },
  ];
  const named = parts.filter(({ count }) => count > 0).map(({ count, word }) => `${count} ${word}`);
  return named.length === 0 ? 'no todos' : named.join(', ');
}

/** The unfolded panel: the counts, then a dot an item. Only reads. */
export function renderOutline(todos: readonly Todo[]): string {
  return [renderFolded(todos), ...todos.map((todo) => `• ${visible(todo.content)}`)].join('\n');
}
