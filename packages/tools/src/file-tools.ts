import type { Tool, WorkToolName } from '@crewboard/contracts';
import { createListFilesTool } from './list-files.ts';
import { createReadFileTool } from './read-file.ts';
import { createSearchFilesTool } from './search-files.ts';
import type { Workspace } from './workspace.ts';

/** The work tools that only read, in the order in which agents get them: a fixed one keeps prompts cacheable. */
const READ_ONLY_FILE_TOOLS = [
  'read_file',
  'list_files',
  'search_files',
] as const satisfies readonly WorkToolName[];

/**
 * Makes the read-only file tools among `names`, in the order of {@link READ_ONLY_FILE_TOOLS}. Other names are none
 * of this function's and add nothing.
 */
export function createFileTools(workspace: Workspace, names: readonly WorkToolName[]): Tool[] {
  const make: Record<(typeof READ_ONLY_FILE_TOOLS)[number], () => Tool> = {
    read_file: () => createReadFileTool(workspace),
    list_files: () => createListFilesTool(workspace),
    search_files: () => createSearchFilesTool(workspace),
  };
  return READ_ONLY_FILE_TOOLS.filter((name) => names.includes(name)).map((name) => make[name]());
}
