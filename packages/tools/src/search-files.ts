import { CrewboardError, SearchFilesInput, type Tool } from '@crewboard/contracts';
import { RE2JS } from 're2js';
import type { z } from 'zod';
import { MAX_FILE_BYTES, readInside } from './open-file.ts';
import { byCodePoint } from './paths.ts';
import { LINE_CHARACTERS, MAX_LIMIT, Search, type SearchBounds } from './search.ts';
import { shownName } from './text.ts';
import { MAX_WALK_ENTRIES, walk } from './walk.ts';
import type { Workspace } from './workspace.ts';

const DEFAULT_GLOB = '**/*';
const DEFAULT_LIMIT = 100;
// Matching costs at most about (size of the compiled pattern) x (characters), see search.ts.
const MAX_PROGRAM_SIZE = 20_000;

const DEFAULT_BOUNDS: SearchBounds = { bytes: 256 * 1024 * 1024, ms: 20_000 };

const DESCRIPTION = [
  'Search the lines of the text files of the workspace for a regular expression (RE2 syntax: no look-around and no',
  'back-references; (?i) at the start ignores case).',
  'The first line of the answer gives the counts; each further line is "<path>:<line>: <text>",',
  `the text cut at ${LINE_CHARACTERS} characters. glob chooses files as in list_files; links are not followed.`,
  `limit is ${DEFAULT_LIMIT} matches when not given and at most ${MAX_LIMIT}.`,
].join(' ');

function compilePattern(pattern: string): RE2JS {
  let problem: string;
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiled.programSize() <= MAX_PROGRAM_SIZE) return compiled;
    problem = 'it is too large';
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  throw new CrewboardError(
    'invalid_argument',
    `The pattern can't be used: ${problem.toWellFormed()}. It is RE2 syntax: no look-around, no back-references.`,
    { path: 'pattern', example: { pattern: '(?i)lease(Ms)?\\b', glob: '**/*.ts' } },
  );
}

async function searchAll(
  workspace: Workspace,
  search: Search,
  glob: string,
  signal: AbortSignal,
): Promise<void> {
  const { entries, isStopped } = await walk(workspace, glob, signal);
  entries.sort((a, b) => byCodePoint(a.path, b.path));
  for (const { path, kind, problem } of entries) {
    if (search.stopped !== undefined) return;
    if (kind === 'folder') search.unread.push(`${shownName(path)} (${problem ?? 'unknown reason'})`);
    if (kind !== 'file') continue;
    signal.throwIfAborted();
    try {
      await search.look(path, await readInside(workspace, path, signal), signal);
    } catch (error) {
      if (!(error instanceof CrewboardError)) throw error;
      search.unread.push(
        error.code === 'payload_too_large'
          ? `${shownName(path)} (over ${MAX_FILE_BYTES} bytes)`
          : error.detail,
      );
    }
  }
  if (isStopped) search.stopped ??= `stopped after ${MAX_WALK_ENTRIES} entries: begin the glob with a folder`;
}

/** Makes `search_files` for a workspace. Matching is linear in the text, whatever the pattern. */
export function createSearchFilesTool(
  workspace: Workspace,
  bounds: SearchBounds = DEFAULT_BOUNDS,
): Tool<z.infer<typeof SearchFilesInput>> {
  return {
    name: 'search_files',
    description: DESCRIPTION,
    inputSchema: SearchFilesInput,
    readOnly: true,
    async execute({ pattern, glob = DEFAULT_GLOB, limit = DEFAULT_LIMIT }, { signal }) {
      const search = new Search(compilePattern(pattern), limit, bounds);
      await searchAll(workspace, search, glob, signal);
      return { content: [search.header(), ...search.rows].join('\n') };
    },
  };
}
