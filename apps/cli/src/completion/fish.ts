import { JOB_IDS } from './bash.ts';
import type { CommandEntry, FlagEntry, Offer } from './commands.ts';

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function offered(offer: Offer): string {
  switch (offer.kind) {
    case 'words':
      return `-x -a ${quote(offer.words.join(' '))}`;
    case 'files':
      return '-F';
    case 'jobs':
      return `-x -a ${quote(`(${JOB_IDS})`)}`;
    case 'nothing':
      return '-x';
  }
}

/** When a command's own things are offered: all its words stand on the line, and none of its subcommands. */
function conditionOf({ path, children }: CommandEntry): string {
  if (path === '') return '__fish_use_subcommand';
  const words = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const below = children.length === 0 ? [] : [`not __fish_seen_subcommand_from ${children.join(' ')}`];
  return [...words, ...below].join('; and ');
}

const line = (condition: string, ...parts: string[]) =>
  ['complete -c crewboard', `-n ${quote(condition)}`, ...parts].join(' ');

function flagLine(condition: string, { names, description, value }: FlagEntry): string {
  const parts = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  // A flag's value must be given; -F alone would make it optional.
  const rest = value === undefined ? [] : [value.kind === 'files' ? '-r -F' : offered(value)];
  return line(condition, ...parts, ...rest, `-d ${quote(description)}`);
}

/** Returns the script for fish. */
export function fishScript(entries: readonly CommandEntry[]): string {
  const descriptions = new Map(entries.map(({ path, description }) => [path, description]));
  const lines = entries.flatMap((entry) => {
    const condition = conditionOf(entry);
    const children = entry.children.map((name) => {
      const description = descriptions.get(`${entry.path} ${name}`.trim()) ?? '';
      return line(condition, `-a ${name}`, `-d ${quote(description)}`);
    });
    const operands = entry.operands.slice(0, 1).map((offer) => line(condition, offered(offer)));
    return [...children, ...entry.flags.map((flag) => flagLine(condition, flag)), ...operands];
  });
  return ['complete -c crewboard -f', ...lines, ''].join('\n');
}
