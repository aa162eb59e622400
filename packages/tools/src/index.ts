export type { ArtifactAccess } from './artifacts/access.ts';
export { contentTypeOf } from './artifacts/content-type.ts';
export { createFileArtifactStore } from './artifacts/file-store.ts';
export { syncFolder, unlessMissing } from './artifacts/job-folder.ts';
export { createReadArtifactTool } from './artifacts/read-artifact.ts';
export type { ArtifactStore, ByteRange, DiscardRule, StoredContent } from './artifacts/store.ts';
export { readTextPage, type TextPage } from './artifacts/text-page.ts';
export { createWriteArtifactTool } from './artifacts/write-artifact.ts';
export {
  type CommandRunner,
  type CommandRunnerOptions,
  createCommandRunner,
} from './commands/command-runner.ts';
export { resolveCommandsMode } from './commands/probe.ts';
export type { CommandBounds, CommandEnd } from './commands/run-launched.ts';
export { createEditFileTool } from './edit-file.ts';
export { createFileLocks, type FileLocks } from './file-locks.ts';
export { createFileTools } from './file-tools.ts';
export { createListFilesTool } from './list-files.ts';
export { makeFolder } from './make-folder.ts';
export { isDeniedName } from './paths.ts';
export { createReadFileTool } from './read-file.ts';
export { createRunCommandTool, endInWords } from './run-command.ts';
export type { SearchBounds } from './search.ts';
export { createSearchFilesTool } from './search-files.ts';
export { systemErrorCode, systemErrorInWords } from './system-error.ts';
export { createWorkTools, type WorkToolOptions } from './work-tools.ts';
export { openWorkspace, type Workspace } from './workspace.ts';
export { createWriteFileTool } from './write-file.ts';
