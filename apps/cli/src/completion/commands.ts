import type { Argument, Command, Option } from 'commander';

/** What a shell can offer in one place. */
export type Offer =
  | { kind: 'words'; words: readonly string[] }
  | { kind: 'files' | 'jobs' | 'tasks' | 'nothing' };

export interface FlagEntry {
  /** `--format`, `-h`. */
  names: readonly string[];
  description: string;
  /** What its value may be; undefined for a flag without one. */
  value: Offer | undefined;
}

/** A command as completion sees it. */
export interface CommandEntry {
  /** The words that name it: empty for the program, `keys add`. */
  path: string;
  description: string;
  /** The names of its subcommands. */
  children: readonly string[];
  flags: readonly FlagEntry[];
  /** What its arguments may be, in order. */
  operands: readonly Offer[];
}

const HELP = 'help';

function offerFor(placeholder: string, choices: readonly string[] | undefined): Offer {
  if (choices !== undefined) return { kind: 'words', words: choices };
  if (placeholder === 'file' || placeholder === 'dir') return { kind: 'files' };
  if (placeholder === 'job') return { kind: 'jobs' };
  return { kind: placeholder === 'task' ? 'tasks' : 'nothing' };
}

function toFlag(option: Option): FlagEntry {
  const placeholder = /[<[](\w+)/.exec(option.flags)?.[1] ?? '';
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    description: option.description,
    value: option.required || option.optional ? offerFor(placeholder, option.argChoices) : undefined,
  };
}

const toOperand = (argument: Argument) => offerFor(argument.name(), argument.argChoices);

/** `help` as commands of its own: after it come the names of the others, and they are explained, not run. */
function helpEntries(entries: readonly CommandEntry[]): CommandEntry[] {
  return entries
    .filter(({ children }) => children.length > 0)
    .map(({ path, children }) => ({
      path: `help ${path}`.trim(),
      description: path === '' ? 'Show the help of a command' : '',
      children: children.filter((name) => name !== HELP),
      flags: [],
      operands: [],
    }));
}

/** Lists `program`, all commands below it that help shows, and `help` itself. */
export function listCommands(program: Command): CommandEntry[] {
  const globals = program.options.map(toFlag);
  function entriesOf(command: Command, path: string): CommandEntry[] {
    const help = command.createHelp();
    const children = help.visibleCommands(command).filter((child) => child.name() !== HELP);
    const own = help.visibleOptions(command).map(toFlag);
    const names = new Set(own.flatMap((flag) => flag.names));
    const entry = {
      path,
      description: command.description(),
      children: [...children.map((child) => child.name()), ...(path === '' ? [HELP] : [])],
      flags: [...own, ...globals.filter((flag) => !flag.names.some((name) => names.has(name)))],
      operands: command.registeredArguments.map(toOperand),
    };
    return [entry, ...children.flatMap((child) => entriesOf(child, `${path} ${child.name()}`.trim()))];
  }
  const entries = entriesOf(program, '');
  return [...entries, ...helpEntries(entries)];
}
