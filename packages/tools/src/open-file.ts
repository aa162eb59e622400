import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { type Location, locate } from './locate.ts';
import { isInside } from './paths.ts';
import { notAFile, refusal } from './refusals.ts';
import { systemErrorCode } from './system-error.ts';
import { shownName } from './text.ts';
import { isDenied, type Workspace } from './workspace.ts';

/** Files above this are refused: a page of one would cost reading and decoding all of it. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;
// NONBLOCK: a pipe put in the file's place must not hold the open; NOFOLLOW: nor may a link lead it elsewhere.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type Found = Extract<Location, { kind: 'found' }>;

/** The physical path of what `handle` really has open; undefined when it can't be told any more. */
async function openedPath(handle: FileHandle, real: string): Promise<string | undefined> {
  try {
    return await readlink(`/proc/self/fd/${handle.fd}`);
  } catch {
    // Without /proc: the path must still lead, without links, to the same inode.
    const again = await realpath(real);
    const [named, held] = await Promise.all([lstat(again), handle.stat()]);
    return named.dev === held.dev && named.ino === held.ino ? again : undefined;
  }
}

/**
 * Opens what `locate` found, for reading, and makes sure that it is what was checked: a folder or link swapped in
 * between is noticed here. `flags` are added to read-only, no-follow and non-blocking. The caller closes the handle.
 * Throws `unavailable` when the place changed meanwhile, `forbidden` when it now leads out.
 */
export async function openLocated(workspace: Workspace, found: Found, flags = 0): Promise<FileHandle> {
  const name = shownName(found.path);
  const changed = (cause?: unknown) =>
    new CrewboardError('unavailable', `${name} changed while it was opened. Try once more.`, {}, { cause });
  let handle: FileHandle;
  try {
    handle = await open(found.real, OPEN_FLAGS | flags);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EACCES' || code === 'EPERM') {
      throw refusal({ kind: 'unreadable', path: found.path, reason: code });
    }
    if (code === undefined || code === 'EMFILE' || code === 'ENFILE') throw error;
    throw changed(error);
  }
  try {
    const opened = await openedPath(handle, found.real).catch(() => undefined);
    if (opened === undefined) throw changed();
    if (!isInside(workspace.root, opened)) throw refusal({ kind: 'outside', path: found.path });
    if (isDenied(workspace, opened)) throw refusal({ kind: 'denied', path: found.path });
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws unless `stats` are those of a regular file. */
function mustBeFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw notAFile(path, stats.isDirectory() ? 'folder' : 'special');
}

function tooLarge(path: string): CrewboardError {
  return new CrewboardError(
    'payload_too_large',
    `${shownName(path)} is larger than ${MAX_FILE_BYTES} bytes. Ask for it in smaller files, or go on without it.`,
    { limitBytes: MAX_FILE_BYTES },
  );
}

/** Reads to the end of the file; undefined when that lies beyond {@link MAX_FILE_BYTES}. */
async function readBounded(
  handle: FileHandle,
  expectedBytes: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let total = 0;
  let roomBytes = Math.max(expectedBytes, CHUNK_BYTES);
  while (total <= MAX_FILE_BYTES) {
    signal.throwIfAborted();
    const chunk = Buffer.allocUnsafe(roomBytes);
    const { bytesRead } = await handle.read(chunk, 0, roomBytes, total);
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
    roomBytes = CHUNK_BYTES;
  }
  return undefined;
}

/**
 * Reads a located file whole. Throws `invalid_argument` for a folder, `forbidden` for anything else that is not a
 * regular file, `payload_too_large` above {@link MAX_FILE_BYTES}, and what {@link openLocated} throws.
 */
export async function readLocated(workspace: Workspace, found: Found, signal: AbortSignal): Promise<Buffer> {
  // Not even opened: opening a device can already have effects.
  mustBeFile(found.path, found.stats);
  const handle = await openLocated(workspace, found);
  try {
    return await readOpened(handle, found.path, signal);
  } finally {
    await handle.close();
  }
}

async function readOpened(handle: FileHandle, path: string, signal: AbortSignal): Promise<Buffer> {
  const stats = await handle.stat();
  mustBeFile(path, stats);
  const bytes = stats.size > MAX_FILE_BYTES ? undefined : await readBounded(handle, stats.size, signal);
  if (bytes === undefined) throw tooLarge(path);
  return bytes;
}

/**
 * Reads the file `name` of a folder that is held open, as `folder` names it to system calls; `path` is for people.
 * Throws what {@link readLocated} throws about the file itself.
 */
export async function readHeld(
  { folder, name, path }: { folder: string; name: string; path: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const handle = await open(join(folder, name), OPEN_FLAGS);
  try {
    return await readOpened(handle, path, signal);
  } finally {
    await handle.close();
  }
}

/** Locates and reads in one, for paths from a walk. Throws what {@link readLocated} throws and all refusals. */
export async function readInside(workspace: Workspace, path: string, signal: AbortSignal): Promise<Buffer> {
  const location = await locate(workspace, path);
  if (location.kind !== 'found') throw refusal(location);
  return await readLocated(workspace, location, signal);
}
