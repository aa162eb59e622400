import { Argument, type Command } from 'commander';
import { bashScript, zshScript } from '../completion/bash.ts';
import { type CommandEntry, listCommands } from '../completion/commands.ts';
import { fishScript } from '../completion/fish.ts';
import type { Context } from '../context.ts';
import { withExamples } from './help.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const SCRIPTS: Record<Shell, (entries: readonly CommandEntry[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `crewboard completion SHELL`: a script that teaches the shell all commands. */
export function addCompletion(program: Command, { terminal }: Context): void {
  const command = program
    .command('completion')
    .description('Print a script that completes commands, flags, files and job IDs in your shell')
    .addArgument(new Argument('<shell>', 'for which shell').choices(SHELLS))
    .addHelpText(
      'after',
      '\nIt completes `crewboard`, not `npx crewboard`; in a checkout, first:\n  crewboard() { npx crewboard "$@"; }',
    )
    .action((shell: Shell) => terminal.data(SCRIPTS[shell](listCommands(program))));
  withExamples(command, [
    'source <(crewboard completion bash)    in this shell, or in ~/.bashrc for all',
    'source <(crewboard completion zsh)     in ~/.zshrc',
    'crewboard completion fish > ~/.config/fish/completions/crewboard.fish',
  ]);
}
