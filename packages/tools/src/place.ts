import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, readlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { locate } from './locate.ts';
import { type Found, openLocated } from './open-file.ts';
import { notAFile, refusal } from './refusals.ts';
import { systemErrorCode } from './system-error.ts';
import { shownName } from './text.ts';
import { isDenied, type Workspace } from './workspace.ts';

/** Where a file stands, or may be put. Its folder is held open, so that no link put there can lead elsewhere. */
export interface Place {
  /** Relative to the workspace, for people. */
  path: string;
  /** Of the folder, for system calls. */
  folder: string;
  name: string;
  /** Of the regular file that stands there; undefined when there is none. */
  stats: Stats | undefined;
}

/** What `path` is by itself; undefined when nothing is there. */
export async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A path by which system calls reach just the folder that `handle` has open, whatever its name leads to by now. */
async function heldPath(handle: FileHandle, real: string): Promise<string> {
  const held = `/proc/self/fd/${handle.fd}`;
  return await readlink(held).then(
    () => held,
    // Without /proc the checked path is all there is.
    () => real,
  );
}

async function openFolder(
  workspace: Workspace,
  folder: Found,
): Promise<{ handle: FileHandle; held: string }> {
  if (!folder.stats.isDirectory()) {
    throw new CrewboardError(
      'invalid_argument',
      `${shownName(folder.path)} is not a folder, so no file can be put in it`,
    );
  }
  const handle = await openLocated(workspace, folder, constants.O_DIRECTORY);
  return { handle, held: await heldPath(handle, folder.real) };
}

/** Finds a folder of the workspace and makes it, and those above it, where there is none yet. */
async function foundFolder(workspace: Workspace, path: string): Promise<Found> {
  const location = await locate(workspace, path);
  if (location.kind === 'found') return location;
  if (location.kind !== 'missing' || location.path === '.') throw refusal(location);
  const above = await foundFolder(workspace, dirname(location.path));
  const { handle, held } = await openFolder(workspace, above);
  try {
    await mkdir(join(held, basename(location.path)));
  } catch (error) {
    // Made by somebody else meanwhile, or a link that leads nowhere: the next look tells.
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  } finally {
    await handle.close();
  }
  const made = await locate(workspace, location.path);
  if (made.kind !== 'found') throw refusal(made);
  return made;
}

/** What stands under `name` in a folder that is held open. Throws for what is no regular file. */
async function fileIn(held: string, name: string, path: string): Promise<Stats | undefined> {
  const stats = await statsOf(join(held, name));
  if (stats?.isSymbolicLink()) {
    const detail = `${shownName(path)} is a link that leads nowhere. Nothing was changed. Use another name.`;
    throw new CrewboardError('forbidden', detail);
  }
  if (stats !== undefined && !stats.isFile())
    throw notAFile(path, stats.isDirectory() ? 'folder' : 'special');
  return stats;
}

/** A folder, the name in it, and the path that people know. */
interface Spot {
  folder: Found;
  name: string;
  path: string;
}

/** Finds where `asked` stands or may be put; see {@link atPlace}. */
async function spotOf(workspace: Workspace, asked: string, makeFolders: boolean): Promise<Spot> {
  const location = await locate(workspace, asked);
  const { path } = location;
  if (location.kind === 'found') {
    if (!location.stats.isFile()) throw notAFile(path, location.stats.isDirectory() ? 'folder' : 'special');
    const folder = await locate(workspace, dirname(location.real));
    if (folder.kind !== 'found') throw refusal(folder);
    return { folder, name: basename(location.real), path };
  }
  if (location.kind !== 'missing' || !makeFolders) throw refusal(location);
  return { folder: await foundFolder(workspace, dirname(path)), name: basename(path), path };
}

/**
 * Runs `work` at the place that `asked` names, under the same rules as reading: links are followed inside the workspace
 * and nowhere else. With `makeFolders` nothing need be there, and missing folders are made; without, a missing file is
 * `not_found`. Throws all refusals of reading, and what `work` throws.
 */
export async function atPlace<T>(
  workspace: Workspace,
  asked: string,
  { makeFolders }: { makeFolders: boolean },
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const { folder, name, path } = await spotOf(workspace, asked, makeFolders);
  if (isDenied(workspace, join(folder.real, name))) throw refusal({ kind: 'denied', path });
  const { handle, held } = await openFolder(workspace, folder);
  try {
    return await work({ path, folder: held, name, stats: await fileIn(held, name, path) });
  } finally {
    await handle.close();
  }
}

/** What changes of one file are locked by: the file itself, or where it would stand. */
export async function lockKey(workspace: Workspace, asked: string): Promise<string> {
  const location = await locate(workspace, asked);
  return location.kind === 'found' ? location.real : join(workspace.root, location.path);
}
