import { CrewboardError, type JsonValue } from '@crewboard/contracts';

/** `{name}` is a field of the task's input, `{{name}}` the braces themselves; `${` is the shell's own. */
const PLACEHOLDER = /\$\{|\{\{([A-Za-z_][\w-]*)\}\}|\{([A-Za-z_][\w-]*)\}/g;

/** Ways of a shell in which a quoted text is not what it is elsewhere. */
const UNSAFE: readonly [RegExp, string][] = [
  [/`/, 'backquotes: write $(...) instead'],
  [/<</, 'a here-document: give the value as an argument'],
  [/\$'/, "$'...': write '...' instead"],
  [/\(\(/, 'arithmetic: give the value as an argument'],
];

/** Where a character of a command stands: free, behind a backslash, in quotes or in a comment. */
type Place = '' | '\\' | '"' | "'" | '#';

function refuse(path: string, detail: string): never {
  throw new CrewboardError('invalid_argument', `${path}: ${detail}`, { path });
}

/** The place of each character of a command, as a POSIX shell reads it; what is nested in `"..."` counts as in it. */
function placesOf(command: string): Place[] {
  const places: Place[] = [];
  let place: Place = '';
  for (let at = 0; at < command.length; at++) {
    const char = command[at] ?? '';
    places[at] = place;
    if (char === '\\' && (place === '' || place === '"')) {
      at += 1;
      places[at] = '\\';
    } else if (place === '#') {
      if (char === '\n') place = '';
    } else if (place !== '') {
      if (char === place) place = '';
    } else if (char === '"' || char === "'") {
      place = char;
    } else if (char === '#' && /^$|[\s;|&()]/.test(command[at - 1] ?? '')) {
      place = '#';
    }
  }
  return places;
}

/** A text as one word of a shell, or as a part of the quoted word that it stands in. */
function quotedAt(text: string, place: Place): string {
  const quoted = `'${text.replaceAll("'", "'\\''")}'`;
  return `${place}${quoted}${place}`;
}

/** Why a value at this place could become more than a word; undefined when it can't. */
function dangerAt(command: string, place: Place): string | undefined {
  if (place === '#') return 'in a comment';
  if (place === '"' && /\$[({]/.test(command))
    return 'in double quotes beside $( or ${: write it without quotes';
  const unsafe = UNSAFE.find(([way]) => way.test(command));
  return unsafe === undefined ? undefined : `in a command with ${unsafe[1]}`;
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
  const places = placesOf(command);
  return command.replace(
    PLACEHOLDER,
    (found, braced: string | undefined, name: string | undefined, at: number) => {
      if (braced !== undefined) return `{${braced}}`;
      const place = places[at] ?? '';
      if (name === undefined || place === '\\') return found;
      const danger = dangerAt(command, place);
      if (danger !== undefined) refuse(path, `{${name}} can't be quoted safely ${danger}`);
      return quotedAt(fieldValue(input, name, path), place);
    },
  );
}
