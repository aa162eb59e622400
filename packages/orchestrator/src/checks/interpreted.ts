import { type Interpreter, interpreterNamed, kindOfEvaluation, mayPrecedeName } from './interpreters.ts';
import { placesOf, type SimpleCommand, simpleCommands, type Word } from './shell-words.ts';

/** A part of a command in which a value could become more than a word, and why. */
export interface Interpreted {
  from: number;
  to: number;
  /** What goes on behind "can't be quoted safely", and what to do instead. */
  danger: string;
  /** True when only a value that begins like an option does harm. */
  asOption?: boolean;
}

const IN_A_FILE = 'put the code in a script file, and give the value as an argument of that';

/** So many interpreters a simple command may name and still be looked at word by word. */
const INTERPRETERS_MOST = 20;

/** The whole command: what it runs as code is made while it runs, perhaps of the value. */
function everywhere(name: string): Interpreted {
  const danger = `beside ${name}, which runs as code what it gets from elsewhere: ${IN_A_FILE}`;
  return { from: 0, to: Number.POSITIVE_INFINITY, danger };
}

const isEverywhere = ({ to }: Interpreted) => to === Number.POSITIVE_INFINITY;

function inCode(name: string, { from, to }: Word, isShell: boolean): Interpreted {
  const asArgument = `give it behind the code, as in ${name} -c 'cat "$1"' ${name} {field}, or `;
  return { from, to, danger: `in what ${name} runs as code: ${isShell ? asArgument : ''}${IN_A_FILE}` };
}

/** What an interpreter does with the words behind its name. */
interface Reading {
  /** Code, with the options that give it. */
  code: Word[];
  /** What could be an option. */
  options: Word[];
  /** True when it takes its code from its input, or from words that are added. */
  isOpen: boolean;
}

const isOption = ({ text }: Word) => /^[-+]./.test(text);

/** How many words behind the option `words[at]` are its value: none when another option follows. */
function valuesBehind(words: readonly Word[], at: number, values: RegExp | undefined): number {
  const next = words[at + 1];
  return values?.test(words[at]?.text ?? '') && next !== undefined && !isOption(next) ? 1 : 0;
}

/** The option `words[at]` that gives code, and its code: in the word itself or the next one that is no option. */
function codeFrom(words: readonly Word[], at: number, { code, values }: Interpreter): Word[] {
  const { text } = words[at] ?? { text: '' };
  const [option = ''] = code.exec(text) ?? [];
  const isAttached = option.length < text.length && !/^[-+][A-Za-z]+$/.test(text);
  let end = at + 1;
  while (!isAttached && end <= words.length) {
    const word = words[end++];
    if (word === undefined || !isOption(word)) break;
    end += valuesBehind(words, end - 1, values);
  }
  return words.slice(at, end);
}

function readArguments(words: readonly Word[], interpreter: Interpreter): Reading {
  const { code, values, script, readsInput } = interpreter;
  const reading: Reading = { code: [], options: [], isOpen: readsInput !== undefined };
  let takesProgram = interpreter.takesProgram === true;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    // With `-s` what follows are arguments.
    if (word === undefined || readsInput?.test(word.text)) return reading;
    if (script?.test(word.text)) takesProgram = false;
    if (code.test(word.text)) {
      const given = codeFrom(words, at, interpreter);
      reading.code.push(...given);
      takesProgram = false;
      reading.isOpen = given.every(isOption);
      if (interpreter.endsWithCode === true) return reading;
      at += given.length - 1;
    } else {
      reading.options.push(word);
      const value = words[at + 1];
      if (isOption(word)) {
        const count = valuesBehind(words, at, values);
        if (count > 0 && value !== undefined) reading.options.push(value);
        at += count;
      } else if (interpreter.isLoose !== true) {
        if (takesProgram) reading.code.push(word);
        return { ...reading, isOpen: false };
      }
    }
  }
  return reading;
}

/** A value that begins a word among the options of a program can be an option itself, and may so give code. */
function asOption(name: string, { from, to, text }: Word): Interpreted[] {
  const danger = `as an option of ${name}: write ./ before a path, or put the command in a script file`;
  if (/^[-+]+\{/.test(text)) return [{ from, to, danger }];
  return text.startsWith('{') ? [{ from, to, danger, asOption: true }] : [];
}

/** True when code for a shell runs as code what it gets while it runs, such as its arguments. */
function evaluatesMore({ text }: Word): boolean {
  return interpretedIn(simpleCommands(text, placesOf(text))).some(isEverywhere);
}

/** What stands where in a simple command; as many words as there are where it does not. */
interface Landmarks {
  shellAt: number;
  xargsAt: number;
  replaceAt: number;
  /** Whether anything in the whole command is piped. */
  isPiped: boolean;
}

function landmarksOf(words: readonly Word[], isPiped: boolean): Landmarks {
  const first = (test: (text: string) => boolean) => {
    const at = words.findIndex(({ text }) => test(text));
    return at < 0 ? words.length : at;
  };
  return {
    shellAt: first((text) => interpreterNamed(text)?.isShell === true),
    xargsAt: first((text) => /(^|\/)xargs$/.test(text)),
    replaceAt: first((text) => /^(-\w*[Ii]|--replace)/.test(text)),
    isPiped,
  };
}

function byInterpreter(words: readonly Word[], at: number, marks: Landmarks): Interpreted[] {
  const name = words[at]?.text ?? '';
  const interpreter = interpreterNamed(name);
  if (interpreter === undefined) return [];
  const { code, options, isOpen } = readArguments(words.slice(at + 1), interpreter);
  const isShell = interpreter.isShell === true;
  const isAdded = marks.xargsAt < at;
  // Behind a shell it is an argument of that, such as the `sh` of `sh -c '...' sh`.
  const isRun = marks.shellAt >= at && (at === 0 || isAdded || mayPrecedeName(words[0]?.text ?? ''));
  const isUnknown =
    (isOpen && isRun && marks.isPiped) ||
    (isAdded && marks.replaceAt < at && code.length > 0) ||
    code.some((word) => word.expands || (isShell && evaluatesMore(word)));
  return [
    ...code.map((word) => inCode(name, word, isShell)),
    ...(isRun ? options.flatMap((word) => asOption(name, word)) : []),
    ...(isUnknown ? [everywhere(name)] : []),
  ];
}

/** What a builtin such as `eval` does with its arguments. */
function byEvaluation(words: readonly Word[]): Interpreted[] {
  const at = words.findIndex(({ text }) => !mayPrecedeName(text));
  const name = words[at]?.text ?? '';
  const kind = kindOfEvaluation(name);
  if (kind === undefined) return [];
  const given = words.slice(at + 1);
  const isUnknown = kind === 'evaluates' && given.some(({ expands }) => expands);
  return [...given.map((word) => inCode(name, word, false)), ...(isUnknown ? [everywhere(name)] : [])];
}

/** The parts of a command that are code for an interpreter, so that no quoting keeps a value in them plain text. */
export function interpretedIn(commands: readonly SimpleCommand[]): Interpreted[] {
  const isPiped = commands.some((command) => command.isPiped);
  return commands.flatMap(({ words }) => {
    const marks = landmarksOf(words, isPiped);
    const named = [...words.keys()].filter((at) => interpreterNamed(words[at]?.text ?? '') !== undefined);
    // Each looks at all that is behind it.
    if (named.length > INTERPRETERS_MOST) return [everywhere(words[named[0] ?? 0]?.text ?? '')];
    return [...byEvaluation(words), ...named.flatMap((at) => byInterpreter(words, at, marks))];
  });
}
