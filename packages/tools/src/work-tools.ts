import type { CommandsMode, Tool, WorkToolName } from '@crewboard/contracts';
import type { CommandRunner } from './commands/command-runner.ts';
import { createEditFileTool } from './edit-file.ts';
import type { FileLocks } from './file-locks.ts';
import { createFileTools } from './file-tools.ts';
import { createRunCommandTool } from './run-command.ts';
import type { Workspace } from './workspace.ts';
import { createWriteFileTool } from './write-file.ts';

export interface WorkToolOptions {
  workspace: Workspace;
  /** Shared by all tools of the process that may write the same files. */
  locks: FileLocks;
  /** Runs commands in the workspace; needed when `run_command` is among the names. */
  commands?: { run: CommandRunner; mode: Exclude<CommandsMode, 'off'> };
}

/**
 * Makes the work tools among `names` in a fixed order, which keeps prompts cacheable: those that read, then those
 * that write, then `run_command`, which is left out without `commands`.
 */
export function createWorkTools(
  { workspace, locks, commands }: WorkToolOptions,
  names: readonly WorkToolName[],
): Tool[] {
  const tools = createFileTools(workspace, names);
  if (names.includes('write_file')) tools.push(createWriteFileTool(workspace, locks));
  if (names.includes('edit_file')) tools.push(createEditFileTool(workspace, locks));
  if (names.includes('run_command') && commands !== undefined) {
    tools.push(createRunCommandTool(commands.run, commands.mode));
  }
  return tools;
}
