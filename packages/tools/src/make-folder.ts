import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemErrorCode } from './system-error.ts';

/** True for a folder and a link to one. */
async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Makes one folder in one that is there; false when it was there. */
async function makeOne(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST' && (await isFolder(path))) return false;
    throw error;
  }
}

/**
 * Makes the folder `path`, for its owner only, and those above it that are missing. Returns false when it was there.
 * Rejects with the system's error when it can't be made, or when a file or a dangling link has its name.
 *
 * Goes up one level at a time: Node's own recursive mkdir tries for ever where no folder can be made, as in /proc.
 */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    return await makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if (systemErrorCode(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
  }
  return makeOne(path);
}
