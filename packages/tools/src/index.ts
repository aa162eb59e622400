export { createFileTools, READ_ONLY_FILE_TOOLS } from './file-tools.ts';
export { createListFilesTool } from './list-files.ts';
export { createReadFileTool } from './read-file.ts';
export type { SearchBounds } from './search.ts';
export { createSearchFilesTool } from './search-files.ts';
export { openWorkspace, type Workspace } from './workspace.ts';
