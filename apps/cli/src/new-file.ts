import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';

/** What is wrong with a path that no new file can be made at, by the operating system's code, and what to do. */
const REASONS: Readonly<Record<string, (path: string) => string>> = {
  EEXIST: (path) => `${path} is there already and is not written over: name a new file, or remove it first`,
  ENOENT: (path) => `the folder ${dirname(path)} is not there: make it first, or name a file in another`,
  ENOTDIR: (path) => `${dirname(path)} is no folder: name a file in one`,
  EISDIR: (path) => `${path} is a folder: name a file in it`,
  EACCES: (path) => `${path} may not be written: check the permissions, or name another file`,
  EPERM: (path) => `${path} may not be written: check the permissions, or name another file`,
  EROFS: (path) => `${path} is on a file system that may only be read: name another file`,
  ENAMETOOLONG: (path) => `the name ${path} is too long: name another file`,
};

/** Writes `text` to a new file. Throws `invalid_argument` for a path where none can be made. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = REASONS[code];
    if (reason === undefined) throw error;
    throw new CrewboardError('invalid_argument', reason(path), {}, { cause: error });
  }
}
