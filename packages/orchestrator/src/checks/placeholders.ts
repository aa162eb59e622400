import { CrewboardError, type JsonValue } from '@crewboard/contracts';
import { FIELD_NAME } from '../field-name.ts';
import { evaluatorsOf } from './evaluated.ts';
import { type PlainCommand, readPlainLine, type Word } from './plain-line.ts';

/** `{name}` is a field of the task's input, `{{name}}` the braces themselves; `${` and `\{` are the shell's own. */
const PLACEHOLDER = new RegExp(String.raw`[$\\]\{|\{\{(${FIELD_NAME})\}\}|\{(${FIELD_NAME})\}`, 'gu');

function refuse(path: string, detail: string): never {
  throw new CrewboardError('invalid_argument', `${path}: ${detail}`, { path });
}

const IN_A_SCRIPT =
  'put the command in a script file, and give the value as its argument, as in ./check.sh {field}';

/** A word that is nothing but a value, or a value with other plain text, such as a path or `--name={field}`. */
const PLAIN_ARGUMENT = new RegExp(
  String.raw`^(?!-+\{|-[^\-]|[A-Za-z_]\w*\+?=)(?:[\w./:@%+,=~\-]|\{${FIELD_NAME}\})+$`,
  'u',
);

/** A command that was read for its placeholders. */
interface ReadCommand {
  /** Undefined when it is no plain line. */
  commands: PlainCommand[] | undefined;
  evaluators: (string | undefined)[];
}

function read(command: string): ReadCommand {
  const commands = readPlainLine(command);
  return { commands, evaluators: commands === undefined ? [] : evaluatorsOf(commands) };
}

/** Why a value at this place of a command could be more than a plain argument; undefined when it evidently can't. */
function dangerAt({ commands, evaluators }: ReadCommand, at: number, value: string): string | undefined {
  if (commands === undefined)
    return `in what is more than plain commands ($, \\, (), {}, #, &, [[, if, for, <<, A=b): ${IN_A_SCRIPT}`;
  const holds = ({ from, to }: Word) => from <= at && at < to;
  const which = commands.findIndex(({ words, targets }) => words.some(holds) || targets.some(holds));
  const { words = [], targets = [] } = commands[which] ?? {};
  const index = words.findIndex(holds);
  const word = words[index] ?? targets.find(holds);
  if (word === undefined || index === 0) return `as the name of a command: ${IN_A_SCRIPT}`;
  if (!PLAIN_ARGUMENT.test(word.text))
    return `within ${word.text}, which may be code: make it an argument of its own, or ${IN_A_SCRIPT}`;
  const evaluator = evaluators[which];
  if (evaluator !== undefined) return `beside ${evaluator}, which may run it as code: ${IN_A_SCRIPT}`;
  const isOption = word.text.startsWith('{') && value.startsWith('-');
  if (!isOption || words.slice(0, index).some(({ text }) => text === '--')) return undefined;
  return `where "${value.slice(0, 40)}" would be an option: write ./ before a path, or -- before it`;
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

/** The quote in which a character of a plain line stands. */
function quoteAt(command: string, at: number): string {
  let quote = '';
  for (const char of command.slice(0, at))
    if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
  return quote;
}

/**
 * Puts fields of the task's input where a command names them as `{field}`, each quoted so that a shell takes it as
 * plain text. Throws `invalid_argument` naming `path` and the field: one that is not there or is no plain value, and
 * one at a place where it is not evident that nothing runs it as code.
 */
export function fillPlaceholders(command: string, input: JsonValue | undefined, path: string): string {
  let whole: ReadCommand | undefined;
  return command.replace(
    PLACEHOLDER,
    (found, braced: string | undefined, name: string | undefined, at: number) => {
      if (braced !== undefined) return `{${braced}}`;
      if (name === undefined) return found;
      const value = fieldValue(input, name, path);
      whole ??= read(command);
      const danger = dangerAt(whole, at, value);
      if (danger !== undefined) refuse(path, `{${name}} can't be quoted safely ${danger}`);
      const quote = quoteAt(command, at);
      return `${quote}'${value.replaceAll("'", "'\\''")}'${quote}`;
    },
  );
}
