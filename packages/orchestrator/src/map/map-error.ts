import { CrewboardError, type JobBody } from '@crewboard/contracts';

const TASK_PLACE = /tasks\[(\d+)\]/g;

/**
 * An error about tasks in the caller's words: what is said of a task that a map has made is said of the map's task with
 * the item. Anything else goes through unchanged.
 */
export function toldOfMap(error: unknown, { tasks = [], map }: JobBody): unknown {
  if (map === undefined || !(error instanceof CrewboardError)) return error;
  const given = tasks.length;
  let index: number | undefined;
  const placed = (text: string, named: (item: number) => string) =>
    text.replace(TASK_PLACE, (found, digits: string) => {
      const item = Number(digits) - given;
      if (item < 0) return found;
      index ??= item;
      return named(item);
    });
  const detail = placed(error.detail, (item) => `map.task (of items[${item}])`);
  const { path } = error.extras;
  const at = path === undefined ? {} : { path: placed(path, () => 'map.task') };
  if (index === undefined) return error;
  const extras = { ...error.extras, ...at, index, retry: error.retry };
  return new CrewboardError(error.code, detail, extras, { cause: error });
}
