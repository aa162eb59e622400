import { CrewboardError, type JsonValue } from '@crewboard/contracts';
import { type Interpreted, interpretedIn } from './interpreted.ts';
import { hasNestedQuotes, type Place, placesOf, simpleCommands } from './shell-words.ts';

/** `{name}` is a field of the task's input, `{{name}}` the braces themselves; `${` is the shell's own. */
const PLACEHOLDER = /\$\{|\{\{([A-Za-z_][\w-]*)\}\}|\{([A-Za-z_][\w-]*)\}/g;

/** Ways of a shell in which a quoted text is not what it is elsewhere. */
const UNSAFE: readonly [RegExp, string][] = [
  [/`/, 'backquotes: write $(...) instead'],
  [/<</, 'a here-document: give the value as an argument'],
  [/\$'/, "$'...': write '...' instead"],
  [/\(\(|\$\[/, 'arithmetic: give the value as an argument'],
];

function refuse(path: string, detail: string): never {
  throw new CrewboardError('invalid_argument', `${path}: ${detail}`, { path });
}

/** A text as one word of a shell, or as a part of the quoted word that it stands in. */
function quotedAt(text: string, place: Place): string {
  const quoted = `'${text.replaceAll("'", "'\\''")}'`;
  return `${place}${quoted}${place}`;
}

/** A command, read once for all of its placeholders. */
interface Read {
  command: string;
  places: readonly Place[];
  interpreted: readonly Interpreted[];
  /** Why no placeholder may stand in it; undefined when some may. */
  danger: string | undefined;
}

function read(command: string): Read {
  const places = placesOf(command);
  const unsafe = UNSAFE.find(([way]) => way.test(command));
  const isNested = hasNestedQuotes(command, places);
  const nested = 'in a command with quotes in the $( or ${ of a "...": write that without the outer quotes';
  const danger = unsafe === undefined ? undefined : `in a command with ${unsafe[1]}`;
  const interpreted = interpretedIn(simpleCommands(command, places));
  return { command, places, interpreted, danger: danger ?? (isNested ? nested : undefined) };
}

/** Why a value at this place could become more than a word; undefined when it can't. */
function dangerAt(
  { command, places, interpreted, danger }: Read,
  at: number,
  value: string,
): string | undefined {
  const place = places[at] ?? '';
  if (place === '#') return 'in a comment';
  if (place === '"' && /\$[({]/.test(command))
    return 'in double quotes beside $( or ${: write it without quotes';
  if (danger !== undefined) return danger;
  const isOption = /^[-+]/.test(value);
  const part = interpreted.find(
    ({ from, to, asOption }) => from <= at && at < to && (asOption !== true || isOption),
  );
  return part?.danger;
}

function fieldValue(input: JsonValue | undefined, name: string, path: string): string {
  const fields = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  if (value !== undefined && value !== null) {
    return refuse(path, `{${name}} is no text, number or true or false in the task's input`);
  }
  const known = Object.keys(fields).slice(0, 20).join(', ');
  const what = known === '' ? 'no fields' : known;
  return refuse(
    path,
    `{${name}} is no field of the task's input, which has ${what} ({{${name}}} means the braces themselves)`,
  );
}

/**
 * Puts fields of the task's input where a command names them as `{field}`, each quoted so that a shell takes it as
 * plain text. Throws `invalid_argument` naming `path` and the field: one that is not there or is no plain value, and
 * one at a place where quoting would not hold.
 */
export function fillPlaceholders(command: string, input: JsonValue | undefined, path: string): string {
  const text = read(command);
  return command.replace(
    PLACEHOLDER,
    (found, braced: string | undefined, name: string | undefined, at: number) => {
      if (braced !== undefined) return `{${braced}}`;
      const place = text.places[at] ?? '';
      if (name === undefined || place === '\\') return found;
      const value = fieldValue(input, name, path);
      const danger = dangerAt(text, at, value);
      if (danger !== undefined) refuse(path, `{${name}} can't be quoted safely ${danger}`);
      return quotedAt(value, place);
    },
  );
}
