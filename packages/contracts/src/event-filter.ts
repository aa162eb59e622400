import { z } from 'zod';
import { type BoardEvent, EVENT_TYPES, TERMINAL_EVENT_TYPES } from './event.ts';
import { TaskId } from './ids.ts';

/** The first words of event types; `task.*` stands for all that begin with it. */
const FAMILIES = ['job', 'plan', 'task', 'message', 'budget', 'rate'];
const WORDS: readonly string[] = [...EVENT_TYPES, ...FAMILIES.map((family) => `${family}.*`)];
/** What follows these first words is the provider's or the budget's own. */
const OPEN_TYPE = /^(?:budget|rate)\.\w{1,40}$/;

/** Event types and families (`task.*`) with commas between them, as a query has them. */
export const EventTypesQuery = z
  .string()
  .max(2000)
  .transform((text, context) => {
    const types = [...new Set(text.split(',').map((type) => type.trim()))];
    const unknown = types.find((type) => !WORDS.includes(type) && !OPEN_TYPE.test(type));
    if (unknown === undefined) return types;
    context.addIssue({
      code: 'custom',
      params: { allowed: WORDS },
      message: `must be event types with commas between them, such as "task.completed,task.failed" or "job.*": ${JSON.stringify(unknown.slice(0, 60))} is none`,
    });
    return z.NEVER;
  });

/** Which events of a log are wanted: those of any of the types, and about the task; absent: all. */
export interface EventFilter {
  types?: readonly string[] | undefined;
  taskId?: string | undefined;
}

/** The filter as query parameters. */
export const EventFilterQuery = z.strictObject({
  types: EventTypesQuery.optional(),
  taskId: TaskId.optional(),
});

/** True for an event that ends its job's stream. */
export function isTerminalEvent({ type }: Pick<BoardEvent, 'type'>): boolean {
  return TERMINAL_EVENT_TYPES.includes(type);
}

/**
 * True for what `filter` lets through. What says whether the job is over always passes: a stream ends with the terminal
 * event, and a `job.reopened` takes that back.
 */
export function isWanted(event: BoardEvent, { types, taskId }: EventFilter): boolean {
  if (isTerminalEvent(event) || event.type === 'job.reopened') return true;
  if (taskId !== undefined && event.taskId !== taskId) return false;
  if (types === undefined) return true;
  const [family = ''] = event.type.split('.', 1);
  return types.includes(event.type) || types.includes(`${family}.*`);
}
