/** Where a character of a command stands: free, behind a backslash, in quotes or in a comment. */
export type Place = '' | '\\' | '"' | "'" | '#';

/** A word of a command. */
export interface Word {
  /** Without the quotes; expansions stand in it as they are written. */
  text: string;
  /** Where it begins and ends in the command. */
  from: number;
  to: number;
  /** True when the shell puts something into it: it has a `$` outside single quotes. */
  expands: boolean;
}

/** A program or builtin with its arguments, without redirections. */
export interface SimpleCommand {
  words: Word[];
  /** True when it reads what another one writes. */
  isPiped: boolean;
}

/** The place of each character of a command, as a POSIX shell reads it; what is nested in `"..."` counts as in it. */
export function placesOf(command: string): Place[] {
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

/**
 * True when a `"..."` may have quotes of its own inside a substitution, so that all places behind it are in doubt: it
 * holds a `$(` or `${` that is not seen to end in it.
 */
export function hasNestedQuotes(command: string, places: readonly Place[]): boolean {
  let quoted = '';
  for (let at = 0; at <= command.length; at++) {
    const isQuoted = places[at] === '"' || (places[at] === '\\' && quoted !== '');
    if (isQuoted) quoted += command[at] ?? '';
    else if (quoted !== '' && isOpen(quoted)) return true;
    else quoted = '';
  }
  return false;
}

function isOpen(quoted: string): boolean {
  if (!/\$[({]/.test(quoted)) return false;
  const count = (char: string) => quoted.split(char).length;
  const isEven = count('(') === count(')') && count('{') === count('}');
  return !isEven || /['\\]|\s#|\bcase\b/.test(quoted);
}

const SEPARATOR = /[\n;&|()]/;

/** True at a `|` that is no part of `||`. */
function isPipe(command: string, at: number): boolean {
  return command[at] === '|' && command[at - 1] !== '|' && command[at + 1] !== '|';
}

/** True at the `&` of `2>&1` or `&>file`. */
function isOfRedirection(command: string, at: number): boolean {
  return command[at] === '&' && (/[<>]/.test(command[at - 1] ?? '') || command[at + 1] === '>');
}

/** Takes the characters of a command in turn and makes words and simple commands of them. */
class Splitter {
  readonly commands: SimpleCommand[] = [];
  private current: SimpleCommand = { words: [], isPiped: false };
  private word: Word | undefined;
  private isTarget = false;

  endCommand(isPiped: boolean): void {
    this.endWord();
    const isEmpty = this.current.words.length === 0;
    if (!isEmpty) this.commands.push(this.current);
    // A group or a line break behind the pipe: what comes next reads from it.
    this.current = { words: [], isPiped: isPiped || (isEmpty && this.current.isPiped) };
    this.isTarget = false;
  }

  /** The word behind a redirection is where it leads to; the digits before it are its descriptor. */
  redirect(): void {
    if (this.word !== undefined && /^\d+$/.test(this.word.text)) this.word = undefined;
    this.endWord();
    this.isTarget = true;
  }

  endWord(): void {
    if (this.word === undefined) return;
    if (!this.isTarget) this.current.words.push(this.word);
    this.isTarget = false;
    this.word = undefined;
  }

  add(text: string, at: number, place: Place): void {
    this.word ??= { text: '', from: at, to: at, expands: false };
    this.word.text += text;
    this.word.to = at + 1;
    if (text === '$' && place !== "'" && place !== '\\') this.word.expands = true;
  }
}

/** What the character at a place adds to its word; undefined when it adds none, and makes none either. */
function textAt(command: string, at: number, places: readonly Place[]): string | undefined {
  const char = command[at] ?? '';
  const place = places[at] ?? '';
  if (place === '\\') return char === '\n' ? undefined : char;
  if (places[at + 1] === '\\' && char === '\\') return command[at + 1] === '\n' ? undefined : '';
  const isQuote = char === place || (place === '' && (char === '"' || char === "'"));
  return isQuote ? '' : char;
}

/** The simple commands of a command, also those in `$(...)` and groups, in the order in which they stand. */
export function simpleCommands(command: string, places: readonly Place[]): SimpleCommand[] {
  const splitter = new Splitter();
  for (let at = 0; at < command.length; at++) {
    const char = command[at] ?? '';
    const place = places[at] ?? '';
    if (place === '#' && char !== '\n') continue;
    if (place !== '' && place !== '#') {
      const text = textAt(command, at, places);
      if (text !== undefined) splitter.add(text, at, place);
    } else if (/[<>]/.test(char)) splitter.redirect();
    else if (isOfRedirection(command, at)) continue;
    else if (SEPARATOR.test(char)) splitter.endCommand(isPipe(command, at));
    else if (/\s/.test(char)) splitter.endWord();
    else {
      const text = textAt(command, at, places);
      if (text !== undefined) splitter.add(text, at, place);
    }
  }
  splitter.endCommand(false);
  return splitter.commands;
}
