import type { Command } from 'commander';

/** Puts examples on top of the command's help: what people look for first. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('before', `Examples:\n${examples.map((line) => `  ${line}`).join('\n')}\n`);
}
