import { type AskedCommand, unknownFlag } from './asked-command.ts';
import { safeLine } from './text.ts';

const MAX_CHARACTERS = 600;
/** Of what was given, which a message repeats. */
const MAX_GIVEN = 60;

/** How commander reports a value that one of our parsers refused; our own words come last. */
const REFUSED_VALUE =
  /^error: (?:option '(?<flag>--[\w-]+)[^']*' argument '(?<given>.*)' is invalid|command-argument value '(?<value>.*)' is invalid for argument '(?<name>[\w-]+)')\. (?<must>.*)$/s;

/** How it lists what a value may be. */
const CHOICES = /^Allowed choices are (?<choices>.*?)\.?$/;

/** What a value must be, without the value itself when that may be a key. */
function refusedValue(groups: Record<string, string | undefined>): string {
  const { flag, name, given, value, must = '' } = groups;
  const choices = CHOICES.exec(must.trim())?.groups?.choices;
  const words = choices === undefined ? must.trim() : `must be one of ${choices}`;
  const what = flag ?? name ?? 'a value';
  if (flag === '--key') return `${what} ${words}`;
  return `${what} ${words}, got "${safeLine(given ?? value ?? '', MAX_GIVEN)}"`;
}

/** Commander's other messages that are clearer in words of ours, by what they begin with. */
const REWORDED: readonly (readonly [
  RegExp,
  (found: RegExpExecArray, asked: AskedCommand | undefined) => string,
])[] = [
  [REFUSED_VALUE, (found) => refusedValue(found.groups ?? {})],
  [
    /^error: (too many arguments.*)\. Expected (\d+) arguments? but got (\d+)\.$/,
    (found) =>
      `${found[1]}: it takes ${found[2]}, got ${found[3]}; quote a value with spaces or *, join several with commas`,
  ],
  [
    /^error: unknown option '(.*)'$/s,
    (found, asked) =>
      asked === undefined ? `unknown option '${found[1]}'` : unknownFlag(asked.command, found[1] ?? ''),
  ],
  [
    /^error: option '(--[\w-]+) (<[\w-]+>)' argument missing$/,
    (found) => `${found[1]} needs a value: ${found[1]} ${found[2]}`,
  ],
  [
    /^error: required option '(--[\w-]+) (<[\w-]+>)' not specified$/,
    (found) => `${found[1]} ${found[2]} is missing`,
  ],
];

/** Returns commander's message about a wrong command line as one line of ours. */
export function usageLine(message: string, asked?: AskedCommand): string {
  let what = message.replace(/^error: /, '');
  for (const [pattern, reword] of REWORDED) {
    const found = pattern.exec(message.trim());
    if (found !== null) what = reword(found, asked);
  }
  // One line, as all our errors.
  return `crewboard: ${safeLine(what, MAX_CHARACTERS).replace(/\.$/, '')} (--help shows examples)`;
}
