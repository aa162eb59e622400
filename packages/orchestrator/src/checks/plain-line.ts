/** A word of a line; `text` is without its quotes. */
export interface Word {
  text: string;
  isQuoted: boolean;
  from: number;
  to: number;
}

/** A program or builtin with its arguments. */
export interface PlainCommand {
  words: Word[];
  /** Words behind `>` and `<`, which are no arguments. */
  targets: Word[];
  /** Whether it may read what an earlier one wrote, from a pipe or a file. */
  isFed: boolean;
}

const TOKEN =
  /(?<blank>[ \t]+)|(?<end>\n|;|&&|\|\|)|(?<pipe>\|)|(?<redirect>\d*(?:>>?|<(?!<))(?<copy>&\d)?)|(?<word>(?:[\w./:@%+,=~^*?!{}[\]-]|'[^']*'|"[^"$`\\]*")+)/y;

/** Words that begin no simple command, but a loop, a condition or a group. */
const RESERVED = new Set(
  '{ } if then elif else fi while until do done for case esac in select function coproc [['.split(' '),
);

function isPlain({ words: [first] }: PlainCommand): boolean {
  return first === undefined || !(RESERVED.has(first.text) || /^[A-Za-z_]\w*\+?=/.test(first.text));
}

/**
 * Reads a line of simple commands behind each other, joined by `;`, `&&`, `||`, `|` and line breaks, with `!` and
 * redirections. With any other way of a shell, such as `$`, a backslash, a group or an assignment, code may come to be
 * while it runs: that gives undefined.
 */
export function readPlainLine(line: string): PlainCommand[] | undefined {
  let command: PlainCommand = { words: [], targets: [], isFed: false };
  const commands = [command];
  let isTarget = false;
  let writes = false;
  for (let at = 0; at < line.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(line)?.groups;
    if (groups === undefined) return undefined;
    const { blank, redirect, copy, pipe, word } = groups;
    if (blank !== undefined) continue;
    if (isTarget && word === undefined) return undefined;
    if (word !== undefined) {
      const text = word.replace(/['"]/g, '');
      const found = { text, isQuoted: text !== word, from: at, to: at + word.length };
      (isTarget ? command.targets : command.words).push(found);
      writes ||= isTarget && found.text !== '/dev/null';
    } else if (redirect === undefined) {
      writes ||= pipe !== undefined;
      command = { words: [], targets: [], isFed: writes };
      commands.push(command);
    }
    isTarget = redirect !== undefined && copy === undefined;
  }
  for (const { words } of commands) if (words[0]?.text === '!') words.shift();
  return !isTarget && commands.every(isPlain) ? commands : undefined;
}
