import { setImmediate as yieldNow } from 'node:timers/promises';
import {
  CrewboardError,
  type JobBody,
  type JsonValue,
  NewTask,
  parseOrThrow,
  shownLine,
} from '@crewboard/contracts';

/** The tasks that a job's body brings, in plan order: `tasks`, then one an item of `map`. */
export interface GivenTasks {
  tasks: readonly NewTask[];
  /** Where the task at this index stands in the body, for errors: `tasks[3]`, `map.items[0]`. */
  pathOf(index: number): string;
}

type TaskMap = NonNullable<JobBody['map']>;

/** `{name}` is a field of the item, `{{name}}` the braces themselves. */
const PLACEHOLDER = /\{\{([A-Za-z_][\w-]*)\}\}|\{([A-Za-z_][\w-]*)\}/g;
/** Texts of the template that are filled here; those in commands and checks are, quoted, when they are run. */
const FILLED = ['title', 'key', 'instructions'] as const;
const FilledTexts = NewTask.pick({ title: true, key: true, instructions: true });
/** Work on many items gives way to others after so long. */
const SLICE_MS = 20;

function refuse(item: string, detail: string, extras: { path: string }): never {
  throw new CrewboardError('invalid_argument', `${item}: ${detail}`, extras);
}

/** The text of an item's field. Throws `invalid_argument` naming the item and the field. */
function fieldOf(item: JsonValue, name: string, path: string, place: string): string {
  const fields = typeof item === 'object' && item !== null && !Array.isArray(item) ? item : {};
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  const used = `which ${place} uses as {${name}}`;
  if (value !== undefined && value !== null) {
    return refuse(path, `its field "${name}", ${used}, is no text, number or true or false`, { path });
  }
  const known = Object.keys(fields)
    .slice(0, 20)
    .map((field) => `"${shownLine(field, 40)}"`)
    .join(', ');
  const has = known === '' ? 'no fields' : known;
  return refuse(
    path,
    `there is no field "${name}", ${used}: it has ${has} ({{${name}}} means the braces themselves)`,
    { path },
  );
}

function filled(text: string, item: JsonValue, path: string, place: string): string {
  return text.replace(PLACEHOLDER, (_, braced: string | undefined, name: string) =>
    braced === undefined ? fieldOf(item, name, path, place) : `{${braced}}`,
  );
}

/** The template's texts for one item, in the shape of a task. */
function textsFor(template: NewTask, item: JsonValue, path: string): Partial<NewTask> {
  const texts = FILLED.flatMap((name) => {
    const text = template[name];
    return text === undefined ? [] : [[name, filled(text, item, path, `map.task.${name}`)]];
  });
  return parseOrThrow(FilledTexts, Object.fromEntries(texts), `The task of ${path}`);
}

/** One task an item. Two items with one key would be one task, or none. */
async function expand({ items, task: template }: TaskMap): Promise<NewTask[]> {
  if (template.input !== undefined) {
    const path = 'map.task.input';
    refuse(path, 'leave it out, for the input of each task is its item', { path });
  }
  const tasks: NewTask[] = [];
  const byKey = new Map<string, number>();
  let since = performance.now();
  for (const [i, item] of items.entries()) {
    const path = `map.items[${i}]`;
    const task = { ...template, ...textsFor(template, item, path), input: item };
    const first = task.key === undefined ? undefined : byKey.get(task.key);
    if (first !== undefined) {
      throw new CrewboardError(
        'duplicate_key',
        `map.items[${first}] and ${path} both get the key "${shownLine(task.key ?? '', 200)}" from map.task.key: name a field there that differs for each item.`,
        { key: task.key, path },
      );
    }
    if (task.key !== undefined) byKey.set(task.key, i);
    tasks.push(task);
    if (performance.now() - since < SLICE_MS) continue;
    await yieldNow();
    since = performance.now();
  }
  return tasks;
}

/** How many tasks a body brings. */
export function givenCount({ tasks, map }: Pick<JobBody, 'tasks' | 'map'>): number {
  return (tasks?.length ?? 0) + (map?.items.length ?? 0);
}

/**
 * Returns the tasks of a body (DESIGN section 11); makes way for other work while it expands many items. Errors:
 * `invalid_argument` naming the item and the field that a placeholder lacks, `duplicate_key` naming both items.
 */
export async function givenTasks({ tasks = [], map }: Pick<JobBody, 'tasks' | 'map'>): Promise<GivenTasks> {
  const mapped = map === undefined ? [] : await expand(map);
  return {
    tasks: [...tasks, ...mapped],
    pathOf: (i) => (i < tasks.length ? `tasks[${i}]` : `map.items[${i - tasks.length}]`),
  };
}
