import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir, rename, rm, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ARTIFACT_BYTES_MOST, CrewboardError, JobId, newSecret } from '@crewboard/contracts';
import { systemErrorCode } from '../system-error.ts';
import {
  isContentName,
  jobFolder,
  makeJobFolder,
  openJobFolder,
  syncFolder,
  unlessMissing,
} from './job-folder.ts';
import type { ArtifactStore, ByteRange, DiscardRule, StoredContent } from './store.ts';
import { writeHashed } from './write-hashed.ts';

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** A put under way, and a content that is being looked at a last time before it goes. */
const TEMPORARY = '.tmp';
const ASIDE = '.aside';

const ageOf = (stats: Stats) => Date.now() - stats.mtimeMs;

async function* namesIn(folder: string | undefined): AsyncGenerator<string> {
  const entries = folder === undefined ? undefined : await unlessMissing(opendir(folder));
  if (entries === undefined) return;
  for await (const entry of entries) if (entry.isFile()) yield entry.name;
}

/** True when the content is there; it counts as put now, so that no sweep takes it for old. */
async function renew(path: string, bytes: number): Promise<boolean> {
  const stats = await unlessMissing(lstat(path));
  if (!stats?.isFile() || stats.size !== bytes) return false;
  const now = new Date();
  return (await unlessMissing(utimes(path, now, now).then(() => true))) ?? false;
}

async function put(
  root: string,
  bytesMost: number,
  ...[jobId, content, signal]: Parameters<ArtifactStore['put']>
): Promise<StoredContent> {
  const folder = await makeJobFolder(root, jobId);
  const temporary = join(folder, `.${newSecret()}${TEMPORARY}`);
  const handle = await open(temporary, 'wx', 0o600);
  try {
    const stored = await writeHashed(handle, content, bytesMost, signal).finally(() => handle.close());
    const path = join(folder, stored.sha256);
    if (!(await renew(path, stored.bytes))) {
      await rename(temporary, path);
      await syncFolder(folder);
    }
    return stored;
  } finally {
    // Gone already when it was renamed.
    await rm(temporary, { force: true });
  }
}

async function openContent(root: string, jobId: string, sha256: string): Promise<FileHandle> {
  const missing = () => new CrewboardError('not_found', 'the content of this artifact is not in the store.');
  const folder = isContentName(sha256) ? await openJobFolder(root, jobId) : undefined;
  if (folder === undefined) throw missing();
  try {
    return await open(join(folder, sha256), READ_FLAGS);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ELOOP') throw missing();
    throw error;
  }
}

async function read(root: string, jobId: string, sha256: string, range?: ByteRange) {
  const handle = await openContent(root, jobId, sha256);
  try {
    if (range?.bytes === 0) throw new RangeError('a range has at least one byte');
    const part = range === undefined ? {} : { start: range.offset, end: range.offset + range.bytes - 1 };
    // Closes the handle with its end, or when it is destroyed.
    return handle.createReadStream(part);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Throws a content away in three steps: out of sight, looked at again, gone. A put that comes meanwhile finds nothing
 * and writes anew; one that came before made the content young; one that was committed shows in `isWanted`.
 */
async function discard(
  root: string,
  jobId: string,
  sha256: string,
  { olderThanMs, isWanted }: DiscardRule,
): Promise<boolean> {
  const folder = isContentName(sha256) ? await openJobFolder(root, jobId) : undefined;
  if (folder === undefined) return false;
  const path = join(folder, sha256);
  const aside = join(folder, `.${sha256}${ASIDE}`);
  const moved = await unlessMissing(rename(path, aside).then(() => true));
  if (moved === undefined) return false;
  const bringBack = () => unlessMissing(rename(aside, path));
  try {
    const stats = await unlessMissing(lstat(aside));
    if (stats !== undefined && ageOf(stats) >= olderThanMs && !(await isWanted())) {
      return (await unlessMissing(rm(aside).then(() => true))) ?? false;
    }
  } catch (error) {
    await bringBack();
    throw error;
  }
  await bringBack();
  return false;
}

async function removeLeftovers(root: string, jobId: string, olderThanMs: number): Promise<void> {
  const folder = await openJobFolder(root, jobId);
  for await (const name of namesIn(folder)) {
    const path = join(folder ?? '', name);
    const stats = await unlessMissing(lstat(path));
    if (stats === undefined || ageOf(stats) < olderThanMs) continue;
    if (name.endsWith(TEMPORARY)) await rm(path, { force: true });
    // Whoever put it aside died before it was looked at: back, to be judged anew.
    const content = basename(name, ASIDE).slice(1);
    if (name.endsWith(ASIDE) && isContentName(content)) {
      await unlessMissing(rename(path, join(folder ?? '', content)));
    }
  }
}

/**
 * A store of files: `<root>/<job>/<sha256>`, readable by their owner only. A content is written to a temporary file,
 * made durable and renamed, so that a name always stands for a whole content. `root` need not exist yet.
 */
export function createFileArtifactStore(
  root: string,
  bytesMost: number = ARTIFACT_BYTES_MOST,
): ArtifactStore {
  return {
    put: (...call) => put(root, bytesMost, ...call),

    async has(jobId, { sha256, bytes }) {
      const folder = isContentName(sha256) ? await openJobFolder(root, jobId) : undefined;
      if (folder === undefined) return false;
      const stats = await unlessMissing(lstat(join(folder, sha256)));
      return stats?.isFile() === true && stats.size === bytes;
    },

    read: (...call) => read(root, ...call),

    async *jobs() {
      const entries = await unlessMissing(opendir(root));
      if (entries === undefined) return;
      for await (const entry of entries) {
        if (entry.isDirectory() && JobId.safeParse(entry.name).success) yield entry.name;
      }
    },

    async *contents(jobId) {
      const folder = await openJobFolder(root, jobId);
      for await (const name of namesIn(folder)) {
        if (!isContentName(name)) continue;
        const stats = await unlessMissing(lstat(join(folder ?? '', name)));
        if (stats !== undefined) yield { sha256: name, ageMs: ageOf(stats) };
      }
    },

    discard: (...call) => discard(root, ...call),
    removeLeftovers: (...call) => removeLeftovers(root, ...call),
    // A link in the folder's place goes itself, not what it leads to.
    removeJob: (jobId) => rm(jobFolder(root, jobId), { recursive: true, force: true }),
  };
}
