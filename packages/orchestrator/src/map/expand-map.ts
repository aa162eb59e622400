import { inSlices } from '@crewboard/board';
import { CrewboardError, type JobBody, NewTask, shownLine, toldIssue, utf8Bytes } from '@crewboard/contracts';
import { fillText, type MapItem, mapItem } from './fill-text.ts';

type JobMap = NonNullable<JobBody['map']>;

/** All tasks of one map as JSON, at most: a long template times many items fits neither a process nor a Redis. */
const EXPANDED_BYTES_MOST = 100 * 1024 * 1024;
const KEY_COLUMNS = 200;
const MIB = 1024 * 1024;

/** The texts that may name fields. */
const FILLED = ['title', 'key', 'instructions'] as const;

function refuseTooMuch({ items, task }: JobMap): void {
  const bytes = items.length * utf8Bytes(JSON.stringify(task)) + utf8Bytes(JSON.stringify(items));
  if (bytes <= EXPANDED_BYTES_MOST) return;
  const mib = (size: number) => Math.ceil(size / MIB);
  throw new CrewboardError(
    'limit_exceeded',
    `map makes ${items.length} tasks of about ${mib(bytes)} MB together, and a job may bring ${mib(EXPANDED_BYTES_MOST)} MB. Nothing was changed. Shorten map.task, or send the items in several jobs.`,
    { tasks: items.length, bytes, most: EXPANDED_BYTES_MOST },
  );
}

/** Refuses a text that is no longer one once the item's fields stand in it: too long, blank, like an ID. */
function refuseUnfit(item: MapItem, name: (typeof FILLED)[number], text: string): void {
  const parsed = NewTask.shape[name].safeParse(text);
  const issue = parsed.error?.issues[0];
  if (issue === undefined) return;
  const what = `map.items[${item.index}]: the ${name} that map.task makes of it is "${shownLine(text, 60)}"`;
  throw new CrewboardError('invalid_argument', `${what}: ${toldIssue(issue, text).text}`, {
    path: `map.task.${name}`,
    index: item.index,
  });
}

function taskFor(task: NewTask, item: MapItem): NewTask {
  const filled = { ...task, input: item.value };
  for (const name of FILLED) {
    const template = task[name];
    if (template === undefined) continue;
    const text = fillText(template, item, name);
    if (text !== template) refuseUnfit(item, name, text);
    filled[name] = text;
  }
  return filled;
}

/** Remembers who has which key; `duplicate_key` names both places. */
function keyRegister(tasks: readonly NewTask[]) {
  const places = new Map<string, string>();
  for (const [i, { key }] of tasks.entries()) if (key !== undefined) places.set(key, `tasks[${i}]`);
  return (key: string | undefined, place: string): void => {
    if (key === undefined) return;
    const other = places.get(key);
    if (other !== undefined) {
      throw new CrewboardError(
        'duplicate_key',
        `${other} and ${place} both have the key "${shownLine(key, KEY_COLUMNS)}". Nothing was changed. Name a field in map.task.key that differs in every item, or leave the key out.`,
        { key, path: place, other },
      );
    }
    places.set(key, place);
  };
}

/**
 * The tasks of a map in the order of its items, behind the given ones: the item is the input, `{field}` in title, key and
 * instructions is replaced. Takes linear time and gives way to other work. Errors: `invalid_argument` naming item and
 * field, `duplicate_key` naming both places, `limit_exceeded` when all together is too much.
 */
export async function expandMap(map: JobMap, tasks: readonly NewTask[]): Promise<NewTask[]> {
  if (map.task.input !== undefined) {
    throw new CrewboardError(
      'invalid_argument',
      "map.task.input can't be given: the input of each task is its item. Put what all share into map.task.instructions",
      { path: 'map.task.input' },
    );
  }
  refuseTooMuch(map);
  const register = keyRegister(tasks);
  const all = [...tasks];
  await inSlices(map.items, (value, index) => {
    const task = taskFor(map.task, mapItem(value, index));
    register(task.key, `map.items[${index}]`);
    all.push(task);
  });
  return all;
}
