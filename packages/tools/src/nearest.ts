import { posix } from 'node:path';
import { editDistance } from '@crewboard/contracts';
import { foldPath } from './paths.ts';
import { walk } from './walk.ts';
import type { Workspace } from './workspace.ts';

const MAX_SEEN = 5000;
const MAX_NEAREST = 5;

/**
 * Up to five paths of the workspace whose file names are like that of `path`, nearest first. Looks at no more than
 * 5,000 entries, so in a large workspace it may miss some.
 */
export async function nearestPaths(
  workspace: Workspace,
  path: string,
  signal: AbortSignal,
): Promise<string[]> {
  const wanted = foldPath(posix.basename(path)).slice(0, 255);
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  const { entries } = await walk(workspace, '**/*', signal, MAX_SEEN);
  return entries
    .filter((entry) => entry.kind === 'file')
    .map((entry) => ({ path: entry.path, name: foldPath(posix.basename(entry.path)) }))
    .filter(({ name }) => Math.abs(name.length - wanted.length) <= allowed)
    .map((entry) => ({ path: entry.path, away: editDistance(wanted, entry.name) }))
    .filter(({ away }) => away <= allowed)
    .sort((a, b) => a.away - b.away || a.path.length - b.path.length)
    .slice(0, MAX_NEAREST)
    .map((entry) => entry.path);
}
