import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { type Place, statsOf } from './place.ts';
import { systemErrorCode } from './system-error.ts';
import { shownName } from './text.ts';

const TEMP_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const NEW_FILE_MODE = 0o666;
/** Without the set-user bits: what an agent writes must not run as somebody else. */
const KEPT_MODE = 0o777;

function isSame(before: Stats | undefined, now: Stats | undefined): boolean {
  if (before === undefined || now === undefined) return before === now;
  return before.ino === now.ino && before.size === now.size && before.mtimeMs === now.mtimeMs;
}

/** The refusals that a system call's error stands for; anything else is thrown as it is. */
function writeRefusal(path: string, error: unknown): unknown {
  const code = systemErrorCode(error);
  const name = shownName(path);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new CrewboardError('forbidden', `${name} can't be written: ${code}`);
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new CrewboardError(
      'unavailable',
      `there is no room to write ${name} (${code}). Nothing was changed.`,
    );
  }
  if (code === 'ENAMETOOLONG') {
    return new CrewboardError('invalid_argument', `${name} is too long for a file name`);
  }
  return error;
}

/** Gives the new file what the old one has: its owner, where that may be given, and its mode. */
async function takeOver(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid).catch(() => {});
  await handle.chmod(mode & KEPT_MODE);
}

async function writeTemp(temp: string, content: Buffer, stats: Stats | undefined): Promise<void> {
  const handle = await open(temp, TEMP_FLAGS, NEW_FILE_MODE);
  try {
    await handle.writeFile(content);
    if (stats !== undefined) await takeOver(handle, stats);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Puts `content` at `place` in one step: readers see the old file or the new one, and a crash leaves one of them. A
 * file that is there must be the one that `place` was opened with. Throws `unavailable` when it has changed since,
 * `forbidden` when it may not be written.
 */
export async function replaceFile(place: Place, content: Buffer): Promise<void> {
  const target = join(place.folder, place.name);
  const temp = join(place.folder, `.crewboard-${randomBytes(8).toString('hex')}.tmp`);
  try {
    // The folder's permission alone would let a file be replaced that may not be written.
    if (place.stats !== undefined) await access(target, constants.W_OK);
    await writeTemp(temp, content, place.stats);
    if (!isSame(place.stats, await statsOf(target))) {
      throw new CrewboardError(
        'unavailable',
        `${shownName(place.path)} was changed by somebody else meanwhile. Nothing was changed. Read it again and try once more.`,
      );
    }
    await rename(temp, target);
  } catch (error) {
    await unlink(temp).catch(() => {});
    throw writeRefusal(place.path, error);
  }
}
