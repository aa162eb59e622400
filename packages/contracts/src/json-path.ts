import { isFields } from './is-fields.ts';

/** Where something stands in a JSON value: names of fields and indices of lists. */
export type Path = readonly PropertyKey[];

/** `tasks[0].title` as its parts. */
export function partsOf(path: string): Path {
  const parts = path.match(/\[\d+\]|[^.[\]]+/g) ?? [];
  return parts.map((part) => (part.startsWith('[') ? Number(part.slice(1, -1)) : part));
}

/** What stands at `path`; undefined when nothing does. Only own fields are looked at. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (Array.isArray(value)) value = value[Number(part)];
    else value = isFields(value) && Object.hasOwn(value, part) ? value[String(part)] : undefined;
  }
  return value;
}

/** `value` with what `change` makes of the place at `path`; undefined takes the place away. */
export function changedAt(value: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [key, ...deeper] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => {
      const changed = index === key ? changedAt(item, deeper, change) : item;
      return changed === undefined ? [] : [changed];
    });
  }
  if (!isFields(value)) return value;
  const old = Object.entries(value).find(([name]) => name === key)?.[1];
  const changed = changedAt(old, deeper, change);
  const rest = Object.entries(value).filter(([name]) => name !== key);
  return Object.fromEntries(changed === undefined ? rest : [...rest, [String(key), changed]]);
}
