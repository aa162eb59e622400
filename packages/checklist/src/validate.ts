import { isBlank, isCleanText } from '@crewboard/contracts';
import { z } from 'zod';
import { TODO_STATUSES, type Todo } from './todos.ts';

export const TODO_PROFILES = ['strict', 'classic'] as const;
export type TodoProfile = (typeof TODO_PROFILES)[number];

/** What a list must keep to. */
export interface TodoRules {
  allowParallelInProgress: boolean;
  maxItems: number;
  profile: TodoProfile;
  normalizeCase: boolean;
}

/** A list that passed whole, or the one sentence that tells the model what to mend; nothing in between. */
export type Validation = { ok: true; todos: readonly Todo[] } | { ok: false; error: string };

export const MAX_CONTENT_LENGTH = 500;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value);
}

const fieldsOf: Record<TodoProfile, string> = {
  strict: 'content and status',
  classic: 'content, status and activeForm',
};

function text() {
  const nonEmpty = 'must be a non-empty string';
  return z
    .string({ error: nonEmpty })
    .min(1, nonEmpty)
    .max(MAX_CONTENT_LENGTH, `must be at most ${MAX_CONTENT_LENGTH} characters`)
    .refine((value) => !isBlank(value), nonEmpty)
    .refine(isCleanText, 'must not contain a lone surrogate or NUL');
}

/** The messages of this schema continue the path of what they are about: `todos[3].content` + ` must be ...`. */
function itemSchema(profile: TodoProfile) {
  const item = z.strictObject(
    {
      content: text(),
      status: z.enum(TODO_STATUSES, {
        error: ({ input }) => `must be one of ${TODO_STATUSES.join(', ')}, got ${shown(input)}`,
      }),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `has the unknown key ${shown(issue.keys[0])}: only ${fieldsOf[profile]} are allowed`
          : `must be an object with ${fieldsOf[profile]}, got ${shown(issue.input)}`,
    },
  );
  return profile === 'strict' ? item : item.extend({ activeForm: text().optional() });
}

function inputSchema(rules: TodoRules) {
  return z.strictObject(
    {
      todos: z
        .array(itemSchema(rules.profile), {
          error: ({ input }) =>
            `must be an array, got ${typeof input === 'string' ? 'a string' : shown(input)}: send an array ([] clears the list)`,
        })
        .max(rules.maxItems),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `the input has the unknown key ${shown(issue.keys[0])}: only todos is allowed`
          : 'the input must be an object with todos: send an array as todos',
    },
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withLowerStatuses(input: unknown): unknown {
  if (!isRecord(input) || !Array.isArray(input.todos)) return input;
  const lower = (todo: unknown) =>
    isRecord(todo) && typeof todo.status === 'string'
      ? { ...todo, status: todo.status.trim().toLowerCase() }
      : todo;
  return { ...input, todos: input.todos.map(lower) };
}

function overCap(input: unknown, maxItems: number): string | undefined {
  const count = isRecord(input) && Array.isArray(input.todos) ? input.todos.length : 0;
  if (count <= maxItems) return undefined;
  return `got ${count} todos, the limit is ${maxItems}: group them into milestones`;
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'the input is not valid';
  const path = issue.path.reduce<string>((at, part) => {
    if (typeof part === 'number') return `${at}[${part}]`;
    return at === '' ? String(part) : `${at}.${String(part)}`;
  }, '');
  return path === '' ? issue.message : `${path} ${issue.message}`;
}

/** Items are the same when their trimmed contents are, letter case included: "a" and "A" are two. */
function repeated(todos: readonly Todo[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, todo] of todos.entries()) {
    const content = todo.content.trim();
    if (seen.has(content)) return `todos[${index}] repeats "${content}"`;
    seen.add(content);
  }
  return undefined;
}

function tooManyActive(todos: readonly Todo[], rules: TodoRules): string | undefined {
  if (rules.allowParallelInProgress) return undefined;
  const active = todos.filter((todo) => todo.status === 'in_progress').length;
  if (active <= 1) return undefined;
  return `at most one todo may be in_progress, got ${active}: finish or set back the others`;
}

export interface TodoValidator {
  /** The schema of the tool's whole input: what the tool publishes. */
  schema: z.ZodType<{ todos: readonly Todo[] }>;
  /**
   * Checks a whole list as it came from a model; `input` may be anything. The first rule that is broken is named,
   * the length first so that a huge list is not walked.
   */
  validate(input: unknown): Validation;
}

/** Makes the validator for lists under `rules`. */
export function createTodoValidator(rules: TodoRules): TodoValidator {
  const schema = inputSchema(rules);
  return {
    schema,
    validate(input) {
      const tooMany = overCap(input, rules.maxItems);
      if (tooMany !== undefined) return { ok: false, error: tooMany };
      const parsed = schema.safeParse(rules.normalizeCase ? withLowerStatuses(input) : input);
      if (!parsed.success) return { ok: false, error: firstIssue(parsed.error) };
      const { todos } = parsed.data;
      const error = repeated(todos) ?? tooManyActive(todos, rules);
      return error === undefined ? { ok: true, todos } : { ok: false, error };
    },
  };
}
