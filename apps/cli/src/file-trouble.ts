import { dirname } from 'node:path';

/** What is wrong with a file that can't be read, by the operating system's code, and what to do. */
const READING: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `${path} is not there: check the name and the working directory`,
  ENOTDIR: (path) => `${path} is not there: ${dirname(path)} is no folder`,
  EISDIR: (path) => `${path} is a folder: name a file in it`,
  EACCES: (path) => `${path} may not be read: check its permissions and those of its folders`,
  EPERM: (path) => `${path} may not be read: check its permissions and those of its folders`,
  ELOOP: (path) => `${path} is a link that leads in a circle: name the file itself`,
  ENAMETOOLONG: (path) => `the name ${path} is too long: name another file`,
  EMFILE: (path) =>
    `${path} can't be opened, as this process has too many files open: raise the limit (ulimit -n)`,
  EIO: (path) => `${path} can't be read: its disk reports an error`,
};

/** What is wrong with a path that no new file can be made at, and what to do. */
const MAKING: Readonly<Record<string, (path: string) => string>> = {
  EEXIST: (path) => `${path} is there already and is not written over: name a new file, or remove it first`,
  ENOENT: (path) => `the folder ${dirname(path)} is not there: make it first, or name a file in another`,
  ENOTDIR: (path) => `${dirname(path)} is no folder: name a file in one`,
  EISDIR: (path) => `${path} is a folder: name a file in it`,
  EACCES: (path) => `${path} may not be written: check the permissions, or name another file`,
  EPERM: (path) => `${path} may not be written: check the permissions, or name another file`,
  EROFS: (path) => `${path} is on a file system that may only be read: name another file`,
  ENOSPC: (path) => `${path} can't be written, as the disk is full: make room, or name a file elsewhere`,
  ENAMETOOLONG: (path) => `the name ${path} is too long: name another file`,
};

/** What keeps a folder from being made, by the operating system's code. */
const FOLDERS: Readonly<Record<string, string>> = {
  EEXIST: 'a file or a broken link has its place',
  ENOTDIR: 'a part of the path is a file',
  ELOOP: 'a part of the path is a link that leads in a circle',
  ENOENT: 'the system makes no folders there',
  EACCES: 'the permissions do not allow it',
  EPERM: 'the permissions do not allow it',
  EROFS: 'the file system may only be read',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'the name is too long',
};

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** Says what is wrong with the file at `path` and what to do; undefined for an error that has no words of its own. */
export function knownTrouble(error: unknown, path: string): string | undefined {
  return READING[codeOf(error)]?.(path);
}

/** Says why the file at `path` can't be read, and what to do. */
export function readingTrouble(error: unknown, path: string): string {
  return knownTrouble(error, path) ?? `${path} can't be read: ${messageOf(error)}`;
}

/** Says why no new file can be made at `path`, and what to do; undefined for an error of another kind. */
export function makingTrouble(error: unknown, path: string): string | undefined {
  return MAKING[codeOf(error)]?.(path);
}

/** Says what keeps a folder from being made. */
export function folderTrouble(error: unknown): string {
  return FOLDERS[codeOf(error)] ?? messageOf(error);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
