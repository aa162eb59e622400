import { nearestName } from '@crewboard/contracts';
import type { Command } from 'commander';

/** What a command line asks for, found before it is parsed: commander answers `--help` of anything. */
export interface AskedCommand {
  /** The deepest command that is named. */
  command: Command;
  /** A word in the place of a subcommand that names none. */
  unknown: string | undefined;
  /** True for `help` in the place of a command: what follows it is explained, and not run. */
  isHelp: boolean;
}

/** True when the value of `flag` is the word after it. */
function takesNext(flag: string, command: Command, program: Command): boolean {
  const option = [...command.options, ...program.options].find(
    ({ long, short }) => long === flag || short === flag,
  );
  return option?.required === true;
}

/** Finds what `args` ask for. */
export function findAsked(program: Command, args: readonly string[]): AskedCommand {
  let command = program;
  let isHelp = false;
  for (let at = 0; at < args.length && command.commands.length > 0; at++) {
    const word = args[at] ?? '';
    if (word === '--') break;
    if (word.startsWith('-')) {
      if (takesNext(word, command, program)) at += 1;
    } else if (word === 'help') {
      isHelp = true;
    } else {
      const child = command.commands.find((each) => each.name() === word);
      if (child === undefined) return { command, unknown: word, isHelp };
      command = child;
    }
  }
  return { command, unknown: undefined, isHelp };
}

/** The flags that `command` takes, and those of all commands. */
function flagsOf(command: Command): string[] {
  const parents = command.parent === null ? [] : flagsOf(command.parent);
  const own = command.createHelp().visibleOptions(command);
  return [...own.flatMap(({ long }) => (long === undefined ? [] : [long])), ...parents];
}

const didYouMean = (name: string | undefined) => (name === undefined ? '' : `: did you mean ${name}?`);

/** What is said of a word that names no command. */
export function unknownCommand({ command, unknown = '' }: AskedCommand): string {
  const names = command.createHelp().visibleCommands(command);
  const near = nearestName(
    unknown,
    names.map((each) => each.name()),
  );
  return `unknown command '${unknown}'${didYouMean(near)}`;
}

/** What is said of a flag that `command` does not have. */
export function unknownFlag(command: Command, flag: string): string {
  const flags = flagsOf(command).map((name) => name.slice(2));
  const near = nearestName(flag.replace(/^--?/, '').replace(/=.*/s, ''), flags);
  return `unknown option '${flag}'${didYouMean(near === undefined ? undefined : `--${near}`)}`;
}
