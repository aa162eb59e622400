import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ListFilesInput, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import { type Location, locate } from './locate.ts';
import { byCodePoint } from './paths.ts';
import { counted, shownName } from './text.ts';
import { type Entry, MAX_WALK_ENTRIES, WRONG_NAME, walk } from './walk.ts';
import type { Workspace } from './workspace.ts';

const DEFAULT_GLOB = '**/*';
const DEFAULT_LIMIT = 1000;
const MAX_LIMIT = 10_000;
/** How many files are asked for their size at once. */
const STAT_BATCH = 64;

const DESCRIPTION = [
  'List the files of the workspace with their sizes, sorted by path.',
  'The first line of the answer gives the counts. Each further line is "<path><TAB><size><TAB>bytes",',
  'or "<path><TAB>link<TAB>..." for a link that is no readable file, and likewise for pipes and folders that can\'t',
  'be read. A path in double quotes is a JSON string: pass the text that it stands for to other tools.',
  'glob: * and ? stay in one folder, ** passes folders, {a,b} and [a-z] as usual; the default "**/*" is every file,',
  'and the name of a folder means all in it.',
  `limit is ${DEFAULT_LIMIT} when not given and at most ${MAX_LIMIT}.`,
].join(' ');

interface Line {
  path: string;
  text: string;
}

function describeTarget(location: Location): string {
  switch (location.kind) {
    case 'outside':
      return "outside the workspace: can't be read";
    case 'denied':
      return "closed to agents: can't be read";
    case 'missing':
      return 'nothing is there';
    case 'unreadable':
      return `can't be read: ${location.reason}`;
    case 'found':
      return location.stats.isDirectory() ? 'a folder in the workspace' : "not a regular file: can't be read";
  }
}

async function linkLine(workspace: Workspace, path: string): Promise<Line> {
  const location = await locate(workspace, path);
  if (location.kind === 'found' && location.stats.isFile()) {
    return { path, text: `${location.stats.size}\tbytes` };
  }
  const target = await readlink(join(workspace.root, path)).catch(() => '?');
  // The name of what is closed to agents is not theirs to know either.
  const arrow = location.kind === 'denied' ? '' : `-> ${shownName(target)} `;
  return { path, text: `link\t${arrow}(${describeTarget(location)})` };
}

async function fileLine(workspace: Workspace, path: string): Promise<Line> {
  try {
    const { size } = await lstat(join(workspace.root, path));
    return { path, text: `${size}\tbytes` };
  } catch {
    const problem = path.includes(WRONG_NAME) ? 'its name is not valid UTF-8' : 'it is gone';
    return { path, text: `unreadable\t${problem}` };
  }
}

async function lineOf(workspace: Workspace, entry: Entry): Promise<Line> {
  const { path, kind } = entry;
  if (kind === 'file') return await fileLine(workspace, path);
  if (kind === 'link') return await linkLine(workspace, path);
  if (kind === 'special') return { path, text: "special\tnot a regular file: can't be read" };
  return { path, text: `folder\tcan't be read: ${entry.problem ?? 'unknown reason'}` };
}

async function linesOf(workspace: Workspace, entries: Entry[], signal: AbortSignal): Promise<Line[]> {
  const lines: Line[] = [];
  for (let at = 0; at < entries.length; at += STAT_BATCH) {
    signal.throwIfAborted();
    const batch = entries.slice(at, at + STAT_BATCH);
    lines.push(...(await Promise.all(batch.map((entry) => lineOf(workspace, entry)))));
  }
  return lines;
}

function header(glob: string, entries: readonly Entry[], shown: number): string {
  const files = entries.filter((entry) => entry.kind === 'file').length;
  const others = entries.length - files;
  const parts = [counted(files, 'file')];
  if (others > 0) parts.push(counted(others, 'link or other entry', 'links and other entries'));
  if (entries.length === 0 && glob !== DEFAULT_GLOB) {
    parts.push(`nothing matches ${JSON.stringify(glob)}; "**/*.md" looks in every folder`);
  }
  if (shown < entries.length) {
    parts.push(`showing ${shown} of ${entries.length}: narrow the glob, or raise limit up to ${MAX_LIMIT}`);
  }
  return parts.join(' · ');
}

/** Makes `list_files` for a workspace; it looks at no more than `maxEntries` names of files and folders. */
export function createListFilesTool(
  workspace: Workspace,
  maxEntries = MAX_WALK_ENTRIES,
): Tool<z.infer<typeof ListFilesInput>> {
  return {
    name: 'list_files',
    description: DESCRIPTION,
    inputSchema: ListFilesInput,
    readOnly: true,
    async execute({ glob = DEFAULT_GLOB, limit = DEFAULT_LIMIT }, { signal }) {
      const { entries, isStopped } = await walk(workspace, glob, signal, maxEntries);
      const sorted = entries.sort((a, b) => byCodePoint(a.path, b.path));
      const lines = await linesOf(workspace, sorted.slice(0, limit), signal);
      const rows = lines.map(({ path, text }) => `${shownName(path)}\t${text}`);
      const bound = counted(maxEntries, 'entry', 'entries');
      const stop = isStopped ? ` · stopped after ${bound}, there are more: begin the glob with a folder` : '';
      return { content: [`${header(glob, sorted, lines.length)}${stop}`, ...rows].join('\n') };
    },
  };
}
