export {
  type CommandRunner,
  type CommandRunnerOptions,
  createCommandRunner,
} from './commands/command-runner.ts';
export type { CommandBounds, CommandEnd } from './commands/run-launched.ts';
export { createFileTools, READ_ONLY_FILE_TOOLS } from './file-tools.ts';
export { createListFilesTool } from './list-files.ts';
export { createReadFileTool } from './read-file.ts';
export type { SearchBounds } from './search.ts';
export { createSearchFilesTool } from './search-files.ts';
export { openWorkspace, type Workspace } from './workspace.ts';
