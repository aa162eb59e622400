import { JOB_IDS, taskIds } from './bash.ts';
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
    case 'tasks':
      return `-x -a ${quote(`(${taskIds('(__crewboard_job)')})`)}`;
    case 'nothing':
      return '-x';
  }
}

/** When a command's own things are offered: all its words stand on the line, and none of its subcommands. */
function conditionOf({ path, children }: CommandEntry): string {
  if (path === '') return '__fish_use_subcommand';
  const words = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const below = children.length === 0 ? [] : [`not __fish_seen_subcommand_from ${children.join(' ')}`];
  const explained = path.startsWith('help') ? [] : ['not __fish_seen_subcommand_from help'];
  return [...words, ...below, ...explained].join('; and ');
}

/** An operand is offered in its place: a job until there is one, what comes after it from then on. */
function operandCondition(condition: string, offer: Offer): string {
  if (offer.kind === 'jobs') return `${condition}; and not __crewboard_job >/dev/null`;
  if (offer.kind === 'tasks') return `${condition}; and __crewboard_job >/dev/null`;
  return condition;
}

/** Prints the job that stands on the line; fails when there is none. */
const JOB_FUNCTION = `function __crewboard_job
    set -l jobs (string match -r '^job_[a-z0-9]+$' -- (commandline -opc))
    and echo $jobs[-1]
end`;

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
    const [first, ...later] = entry.operands;
    const placed = [...(first === undefined ? [] : [first]), ...later.filter(({ kind }) => kind === 'tasks')];
    const operands = placed.map((offer) => line(operandCondition(condition, offer), offered(offer)));
    return [...children, ...entry.flags.map((flag) => flagLine(condition, flag)), ...operands];
  });
  return [JOB_FUNCTION, 'complete -c crewboard -f', ...lines, ''].join('\n');
}
