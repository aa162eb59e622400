import type { z } from 'zod';
import { type Path, valueAt } from './json-path.ts';
import { shownLine } from './shown-text.ts';

type Issue = z.core.$ZodIssue;

/** What one issue of a failed parse means for the caller. */
export interface Told {
  /** Where, such as `tasks[0].title`; an unknown field's own. Empty: the whole. */
  path: string;
  /** A plain sentence that begins with the path. */
  text: string;
  /** The words that are taken, where there is a list of them. */
  allowed?: string[];
  /** Fields that belong to a valid form of what was sent. */
  example?: unknown;
}

/** Of one quoted value, in columns. */
const QUOTED_MOST = 60;
/** Wording of zod itself; any other message is our schemas' own. */
const OF_ZOD = /^(?:Invalid|Too (?:big|small)|Unrecognized|Expected|Required)/;

/** A path as a caller writes it: `tasks[0].title`. */
export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += `${text === '' ? '' : '.'}${shownLine(String(part), QUOTED_MOST)}`;
  }
  return text;
}

const NOUNS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  undefined: 'absent',
  nan: 'a number',
};
const nounOf = (type: string) => NOUNS[type] ?? `a value of type ${type}`;

/** What was sent, in a word: short texts and numbers as they are, else their kind. */
function got(value: unknown, quote = false): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (quote && typeof value === 'string') return `"${shownLine(value, QUOTED_MOST)}"`;
  if (quote && typeof value === 'number') return String(value);
  return typeof value === 'boolean' ? String(value) : nounOf(typeof value);
}

const choice = (words: readonly string[]) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/** "must be ..." of a value that is of another kind, or absent. */
function mustBe(wanted: string, value: unknown, quote = false): string {
  return value === undefined
    ? `is missing: it must be ${wanted}`
    : `must be ${wanted}, got ${got(value, quote)}`;
}

const UNITS: Record<string, string> = { string: 'characters', array: 'items', set: 'items' };

function sizeText(issue: Extract<Issue, { code: 'too_big' | 'too_small' }>, value: unknown): string {
  const [word, bound] =
    issue.code === 'too_big'
      ? [issue.inclusive === false ? 'less than' : 'at most', issue.maximum]
      : [issue.inclusive === false ? 'more than' : 'at least', issue.minimum];
  const unit = UNITS[issue.origin];
  return unit === undefined
    ? `must be ${word} ${bound}, got ${got(value, true)}`
    : `must have ${word} ${bound} ${unit}`;
}

/** What an option of a union takes, by the type that it missed; undefined when it takes the value's kind. */
function wantedBy(option: readonly Issue[]): string | undefined {
  const [first] = option;
  return first?.code === 'invalid_type' && first.path.length === 0 ? nounOf(first.expected) : undefined;
}

/** A union says what its options take, or what is wrong with the value in the option of its own kind. */
function unionText(issue: Extract<Issue, { code: 'invalid_union' }>, at: Path, root: unknown): Told {
  const value = valueAt(root, at);
  const options = 'options' in issue ? issue.options : undefined;
  if (options !== undefined) {
    const allowed = options.map(String);
    return { path: pathText(at), text: mustBe(`one of ${allowed.join(', ')}`, value, true), allowed };
  }
  const kinds = [...new Set(issue.errors.map(wantedBy))];
  const near = issue.errors.find((option) => wantedBy(option) === undefined);
  const [deeper] = near ?? [];
  if (deeper !== undefined) return told({ ...deeper, path: [...at, ...deeper.path] }, root);
  return { path: pathText(at), text: mustBe(choice(kinds.filter((kind) => kind !== undefined)), value) };
}

function told(issue: Issue, root: unknown): Told {
  const value = valueAt(root, issue.path);
  const path = pathText(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    return { path: pathText([...issue.path, key]), text: 'is not a field here' };
  }
  if (issue.code === 'custom' || !OF_ZOD.test(issue.message)) {
    const { example, allowed } = (issue.code === 'custom' ? issue.params : undefined) ?? {};
    return {
      path,
      text: issue.message,
      ...(example === undefined ? {} : { example }),
      ...(Array.isArray(allowed) ? { allowed: allowed.map(String) } : {}),
    };
  }
  switch (issue.code) {
    case 'invalid_type':
      return { path, text: mustBe(nounOf(issue.expected), value) };
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      return {
        path,
        text: mustBe(`${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}`, value, true),
        allowed,
      };
    }
    case 'too_big':
    case 'too_small':
      return { path, text: sizeText(issue, value) };
    case 'invalid_format':
      return {
        path,
        text: `must be ${issue.format === 'regex' ? `text like ${issue.pattern}` : `a valid ${issue.format}`}, got ${got(value, true)}`,
      };
    case 'not_multiple_of':
      return { path, text: `must be a multiple of ${issue.divisor}, got ${got(value, true)}` };
    case 'invalid_union':
      return unionText(issue, issue.path, root);
    default:
      return { path, text: 'does not have the right shape' };
  }
}

/** Puts an issue that a schema has with `root` into plain words; zod's own are for programmers. */
export function toldIssue(issue: Issue, root: unknown): Told {
  const { text, ...rest } = told(issue, root);
  const isClause = /^(?:must|is|needs|has|does|can)\b/.test(text);
  const said = rest.path === '' ? `it ${text}` : `${rest.path} ${text}`;
  if (isClause) return { ...rest, text: said };
  return { ...rest, text: rest.path === '' ? text : `${rest.path}: ${text}` };
}
