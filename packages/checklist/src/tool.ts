import { CrewboardError, type Tool } from '@crewboard/contracts';
import { z } from 'zod';
import { describeTool } from './description.ts';
import { type Locale, successLine } from './locale.ts';
import type { Todo, TodoToolName } from './todos.ts';
import { createTodoValidator, type TodoProfile, type TodoRules } from './validate.ts';

export interface TodoWriteOptions {
  /** Called once for each accepted list, with the whole of it; a rejected one never gets here. */
  onUpdate(todos: readonly Todo[]): void | Promise<void>;
  /** Whether several items may be in progress. Required: description and validation both follow it. */
  allowParallelInProgress: boolean;
  maxItems?: number;
  /** `strict` (default): content and status only. `classic`: also activeForm. */
  profile?: TodoProfile;
  /** Accepts `PENDING` as `pending`; off by default, then other cases are refused with the allowed list. */
  normalizeCase?: boolean;
  locale?: Locale;
  /** `TodoWrite` for prompts that were written for the older name. */
  name?: TodoToolName;
}

function rulesOf(options: TodoWriteOptions): TodoRules {
  const { allowParallelInProgress, maxItems = 20, profile = 'strict', normalizeCase = false } = options;
  if (typeof allowParallelInProgress !== 'boolean') {
    throw new CrewboardError('invalid_argument', 'allowParallelInProgress must be set to true or false');
  }
  if (!Number.isInteger(maxItems) || maxItems < 1) {
    throw new CrewboardError('invalid_argument', 'maxItems must be a whole number from 1');
  }
  return { allowParallelInProgress, maxItems, profile, normalizeCase };
}

/**
 * Makes the checklist tool of one agent. It keeps nothing itself: each accepted call hands the whole new list to
 * `onUpdate`, each refused one changes nothing. Throws `invalid_argument` for options that make no sense.
 */
export function createTodoWriteTool(options: TodoWriteOptions): Tool {
  const rules = rulesOf(options);
  const validator = createTodoValidator(rules);
  const { locale = 'en', name = 'todo_write', onUpdate } = options;
  const { $schema: _, ...published } = z.toJSONSchema(validator.schema);
  return {
    name,
    description: describeTool(rules),
    // Published strictly but parsed by the handler: its errors have fixed texts, and a JSON string in place of
    // the list has to be refused, not mended as for other tools.
    inputSchema: z.unknown().meta(published),
    readOnly: false,
    idempotent: true,
    bookkeeping: true,
    async execute(input) {
      const checked = validator.validate(input);
      if (!checked.ok) return { content: checked.error, isError: true };
      await onUpdate(checked.todos);
      return { content: successLine(checked.todos, locale) };
    },
  };
}
