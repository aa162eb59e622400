import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The error's code when the operating system gave it one, such as `ENOENT`. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

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
    if (codeOf(error) === 'EEXIST' && (await isFolder(path))) return false;
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
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
  }
  return makeOne(path);
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'there is a file or a broken link of that name',
  ENOTDIR: 'it lies below a file',
  ENOENT: 'the system makes no folders there',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
};

/** Says in a few words why a folder could not be made or written to. */
export function whyNoFolder(error: unknown): string {
  const reason = REASONS[codeOf(error) ?? ''];
  return reason ?? (error instanceof Error ? error.message : String(error));
}
