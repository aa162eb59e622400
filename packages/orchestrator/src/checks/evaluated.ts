import type { PlainCommand } from './plain-line.ts';

/*
 * No list of what runs a text as code is ever whole. So these are only for what a shape can't tell; the shapes of a plain
 * line and of a plain argument keep all the rest out.
 */

/** Builtins of a shell that run their arguments as code or take them for names, of which some are evaluated. */
const BUILTIN =
  /^(\.|eval|source|trap|alias|let|declare|typeset|local|export|readonly|unset|read|getopts|mapfile|readarray)$/;
/** Programs that run their arguments as code, or as more arguments. */
const PROGRAM =
  /^(ssh|su|watch|xargs|parallel|env|g?make|[gmn]?awk|g?sed|jq|sqlite3|gdb|tmux|screen|vim?|ex|ed|dc|bc|m4|expect|tclsh|osascript)$/;
const SHELL = /^(ba|da|z|k|mk|pdk|a|c|tc|fi)?sh$|^(busybox|toybox)$/;
const LANGUAGE = /^(python|pypy|perl|ruby|node|php|lua|luajit|deno|bun|Rscript)[\d.]*$/;

/** Options with code behind them. */
const CODE_OPTION =
  /^(-[A-Za-z]{0,2}[ce]|-exec(dir)?|-ok(dir)?|--(eval|exec|execute|command|expression|print|call|source|shell)(=.*)?)$/;
/** Programs that only read, for which `-c` and `-e` mean something else. */
const READERS = /^(test|\[|cat|cmp|cut|diff|echo|[ef]?grep|head|ls|sort|stat|tail|uniq|wc)$/;
const SHORT_CODE_OPTION = /^-[A-Za-z]{0,2}[ce]$/;
/** And those of some programs alone: for others they are harmless and frequent. */
const OWN_OPTIONS: readonly [RegExp, RegExp][] = [
  [LANGUAGE, /^-[A-Za-z]*[ceEprBR]$/],
  [/^(test|\[|printf)$/, /^-v$/],
];

/** What does so with what it reads, too. */
const READS = [/^(xargs|parallel)$/, SHELL, LANGUAGE];

/** The names of what a command may run; nobody quotes the name of a program, but texts that are sought for. */
function namesIn({ words }: PlainCommand): string[] {
  return words.map(({ text, isQuoted }, i) =>
    isQuoted && i > 0 ? '' : text.slice(text.lastIndexOf('/') + 1),
  );
}

/** What of a command may run its arguments as code; undefined when nothing is known to. */
function evaluatorIn(command: PlainCommand): string | undefined {
  const texts = command.words.map(({ text }) => text);
  const names = namesIn(command);
  const own = OWN_OPTIONS.filter(([of]) => names.some((name) => of.test(name)));
  const builtinAt = texts.findIndex((text) => !/^(command|builtin|-.*)$/.test(text));
  const at = names.findIndex((name, i) => {
    if (PROGRAM.test(name) || (i === builtinAt && BUILTIN.test(texts[i] ?? ''))) return true;
    // A shell runs a script that is named, and nothing else.
    if (SHELL.test(name)) return !/^[\w./][^{]*$/.test(texts[i + 1] ?? '');
    const option = texts[i] ?? '';
    if (READERS.test(names[0] ?? '') && SHORT_CODE_OPTION.test(option)) return false;
    return CODE_OPTION.test(option) || own.some(([, code]) => code.test(option));
  });
  return texts[at];
}

/**
 * Names for each command of a line what may run a value in it as code: the command itself, or one that the value may come
 * to through a pipe or a file. Undefined when nothing is known to.
 */
export function evaluatorsOf(commands: readonly PlainCommand[]): (string | undefined)[] {
  const reader = commands
    .flatMap((command) => (command.isFed ? namesIn(command) : []))
    .find((name) => READS.some((names) => names.test(name)));
  return commands.map((command) => reader ?? evaluatorIn(command));
}
