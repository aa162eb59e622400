import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { foldPath, isDeniedName, isInside, pathParts } from './paths.ts';
import { systemErrorCode } from './system-error.ts';

/** A folder that agents may look into, and the folders within it that they never see. */
export interface Workspace {
  /** Absolute and physical: no link on the way. */
  readonly root: string;
  /** The absolute path by which the folder was named; agents and links may name it so, too. */
  readonly openedAs: string;
  /** Absolute and physical, such as Crewboard's data folder. */
  readonly deniedPaths: readonly string[];
}

/** Resolves the links of a path of which the last parts need not exist yet. */
async function physicalPath(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    const parent = dirname(absolute);
    if (systemErrorCode(error) !== 'ENOENT' || parent === absolute) throw error;
    return join(await physicalPath(parent), basename(absolute));
  }
}

/**
 * Opens `root` as a workspace. `deniedPaths` (absolute; they need not exist yet) are never shown, by whatever name.
 * Throws `invalid_argument` when root is not an absolute path of a folder, `forbidden` when it lies in a denied one.
 */
export async function openWorkspace(options: {
  root: string;
  deniedPaths: readonly string[];
}): Promise<Workspace> {
  const notAbsolute = [options.root, ...options.deniedPaths].find((path) => !isAbsolute(path));
  if (notAbsolute !== undefined) {
    throw new CrewboardError('invalid_argument', `The path "${notAbsolute}" must be absolute.`);
  }
  const openedAs = resolve(options.root);
  const root = await realpath(openedAs).catch(() => undefined);
  if (root === undefined || !(await stat(root)).isDirectory()) {
    throw new CrewboardError('invalid_argument', `The workspace "${openedAs}" is not an existing folder.`);
  }
  const deniedPaths = await Promise.all(options.deniedPaths.map(physicalPath));
  const workspace = { root, openedAs, deniedPaths };
  if (isDenied(workspace, root)) {
    throw new CrewboardError('forbidden', `The workspace "${openedAs}" lies in a folder closed to agents.`);
  }
  return workspace;
}

/** True when the physical path `real` is, or lies below, a name or folder that agents never see. */
export function isDenied(workspace: Workspace, real: string): boolean {
  if (pathParts(relative(workspace.root, real)).some(isDeniedName)) return true;
  const folded = foldPath(real);
  return workspace.deniedPaths.some((folder) => isInside(foldPath(folder), folded));
}
