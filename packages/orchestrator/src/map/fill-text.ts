import { CrewboardError, type JsonValue, shownLine } from '@crewboard/contracts';
import { FIELD_NAME } from '../field-name.ts';

/** `{name}` is a field of the item, `{{name}}` the braces themselves: as in commands, but that `$` means nothing here. */
const PLACEHOLDER = new RegExp(String.raw`\{\{(${FIELD_NAME})\}\}|\{(${FIELD_NAME})\}`, 'gu');

/** Names of fields that an error tells. */
const NAMES_TOLD = 20;
const NAME_COLUMNS = 60;

/** What an item gives to texts: its index, and its fields; none when it is no object. */
export interface MapItem {
  index: number;
  value: JsonValue;
  fields: Readonly<Record<string, JsonValue>>;
}

/** The item as texts see it. */
export function mapItem(value: JsonValue, index: number): MapItem {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return { index, value, fields: isObject ? value : {} };
}

const kindOf = (value: JsonValue) => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

function refuse({ index }: MapItem, name: string, detail: string): never {
  throw new CrewboardError('invalid_argument', `map.items[${index}] ${detail}`, {
    path: `map.items[${index}].${name}`,
    index,
    field: name,
  });
}

/** What the item has instead of the field. */
function lacking(item: MapItem, name: string, where: string): never {
  const braces = `({{${name}}} means the braces themselves)`;
  const names = Object.keys(item.fields);
  if (names.length === 0) {
    return refuse(
      item,
      name,
      `has no field "${name}", which {${name}} in map.task.${where} names: it is ${kindOf(item.value)}. Write each item as an object, such as {"${name}": "..."} ${braces}`,
    );
  }
  const known = names.slice(0, NAMES_TOLD).map((known) => shownLine(known, NAME_COLUMNS));
  const more = names.length - known.length;
  return refuse(
    item,
    name,
    `has no field "${name}", which {${name}} in map.task.${where} names. It has ${known.join(', ')}${more > 0 ? ` and ${more} more` : ''} ${braces}`,
  );
}

function fieldText(item: MapItem, name: string, where: string): string {
  const value = Object.hasOwn(item.fields, name) ? item.fields[name] : undefined;
  if (value === undefined) return lacking(item, name, where);
  if (typeof value === 'object') {
    return refuse(
      item,
      name,
      `has ${kindOf(value)} as its field "${name}", and {${name}} in map.task.${where} takes a text, a number, true or false. The whole item is the task's input anyway`,
    );
  }
  return String(value);
}

/**
 * Puts the item's fields where `text` names them as `{field}`. `where` names the text in errors. Throws
 * `invalid_argument` naming item and field: one that is not there, or holds a list, an object or null.
 */
export function fillText(text: string, item: MapItem, where: string): string {
  return text.replace(PLACEHOLDER, (_, braced: string | undefined, name: string) =>
    braced === undefined ? fieldText(item, name, where) : `{${braced}}`,
  );
}
