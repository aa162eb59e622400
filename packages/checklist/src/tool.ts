import { CrewboardError, type Tool } from '@crewboard/contracts';
import { z } from 'zod';
import { describeTool } from './description.ts';
import { LOCALES, type Locale, successLine } from './locale.ts';
import { TODO_TOOL_NAMES, type Todo, type TodoToolName } from './todos.ts';
import { createTodoValidator, TODO_PROFILES, type TodoProfile, type TodoRules } from './validate.ts';

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

/** Types do not hold at run time: an option that is not known would be taken for another one. */
function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new CrewboardError('invalid_argument', otherwise);
}

function demandOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  const isKnown = typeof value === 'string' && allowed.includes(value);
  demand(isKnown, `${name} must be one of ${allowed.join(', ')}`);
}

function rulesOf(options: TodoWriteOptions): TodoRules {
  const { allowParallelInProgress, maxItems = 20, profile = 'strict', normalizeCase = false } = options;
  demand(
    typeof allowParallelInProgress === 'boolean',
    'allowParallelInProgress must be set to true or false',
  );
  demand(Number.isInteger(maxItems) && maxItems >= 1, 'maxItems must be a whole number from 1');
  demandOneOf('profile', profile, TODO_PROFILES);
  demand(typeof normalizeCase === 'boolean', 'normalizeCase must be true or false');
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
  demandOneOf('locale', locale, LOCALES);
  demandOneOf('name', name, TODO_TOOL_NAMES);
  demand(typeof onUpdate === 'function', 'onUpdate must be a function');
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
