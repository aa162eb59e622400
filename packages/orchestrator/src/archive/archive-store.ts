import { constants } from 'node:fs';
import { type FileHandle, open, opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArchivedJobLine, type ArchiveLine, CrewboardError, JobId } from '@crewboard/contracts';
import { syncFolder, systemErrorCode, unlessMissing } from '@crewboard/tools';
import { type ArchiveIndex, indexArchive, readArchivedJob } from './archive-index.ts';
import { type ArchiveReader, archiveReader } from './archive-reader.ts';
import { unreadableArchive } from './lines.ts';
import { TEMPORARY, writeArchive } from './write-archive.ts';

/** Indexes kept: one of 100,000 tasks with their events takes about 20 MB. */
const INDEXES_MOST = 4;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW;

/** Archives of ended jobs: one file a job, `<root>/<jobId>.jsonl`, which several processes may share. */
export interface ArchiveStore {
  /** Writes the archive of a job in the place of an earlier one, durably before it resolves. */
  write(jobId: string, lines: AsyncIterable<ArchiveLine>): Promise<void>;
  /**
   * The job alone; undefined without an archive. Of the rest it is only seen that it has an end. Errors: as for `read`,
   * as far as that is seen.
   */
  job(jobId: string): Promise<ArchivedJobLine | undefined>;
  /**
   * Reads an archive that was found whole; undefined without one. Errors: `unavailable` for one that is damaged, of a
   * newer version, or can't be read.
   */
  read<T>(jobId: string, read: (archive: ArchiveReader) => Promise<T>): Promise<{ value: T } | undefined>;
  /** The stamp of an archive, which is read to its end for this; undefined without one. Errors: as for `read`. */
  stampOf(jobId: string): Promise<string | undefined>;
  /** Removes it for good. Harmless when there is none. */
  remove(jobId: string): Promise<void>;
  /** Removes what interrupted writes left behind at least so long ago. */
  removeLeftovers(olderThanMs: number): Promise<void>;
}

/**
 * Opens the file of the job's archive for `work`; undefined without one. Errors: `unavailable` for one that
 * the system does not let be read.
 */
async function withFile<T>(
  path: string,
  jobId: string,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  try {
    const handle = await unlessMissing(open(path, READ_FLAGS));
    return handle === undefined ? undefined : await work(handle).finally(() => handle.close());
  } catch (error) {
    const code = error instanceof CrewboardError ? undefined : systemErrorCode(error);
    throw code === undefined ? error : unreadableArchive(jobId, code, error);
  }
}

/** Remembers the indexes of the archives read last; a file that was replaced is another one. */
function rememberIndexes() {
  const known = new Map<string, { identity: string; index: Promise<ArchiveIndex> }>();
  return async (handle: FileHandle, jobId: string): Promise<ArchiveIndex> => {
    const { ino, size, mtimeMs } = await handle.stat();
    const identity = `${ino}/${size}/${mtimeMs}`;
    const found = known.get(jobId);
    known.delete(jobId);
    const index = found?.identity === identity ? found.index : indexArchive(handle, jobId);
    known.set(jobId, { identity, index });
    const [oldest] = known.keys();
    if (known.size > INDEXES_MOST && oldest !== undefined) known.delete(oldest);
    // A damaged one is looked at anew: it may have been put back.
    return index.catch((error: unknown) => {
      if (known.get(jobId)?.index === index) known.delete(jobId);
      throw error;
    });
  };
}

/** The store in the folder `root`, which need not exist yet. */
export function createFileArchiveStore(root: string): ArchiveStore {
  const indexOf = rememberIndexes();
  const pathOf = (jobId: string) => {
    if (JobId.safeParse(jobId).success) return join(root, `${jobId}.jsonl`);
    throw new CrewboardError('not_found', 'no such job.');
  };
  return {
    write: (jobId, lines) => writeArchive(pathOf(jobId), lines),
    job: (jobId) => withFile(pathOf(jobId), jobId, (handle) => readArchivedJob(handle, jobId)),
    read: (jobId, read) =>
      withFile(pathOf(jobId), jobId, async (handle) => ({
        value: await read(archiveReader(handle, await indexOf(handle, jobId))),
      })),
    // Not by a remembered index: the file may have been damaged since.
    stampOf: (jobId) =>
      withFile(pathOf(jobId), jobId, async (handle) => (await indexArchive(handle, jobId)).head.stamp),

    async remove(jobId) {
      await rm(pathOf(jobId), { force: true });
      await unlessMissing(syncFolder(root));
    },

    async removeLeftovers(olderThanMs) {
      const entries = await unlessMissing(opendir(root));
      if (entries === undefined) return;
      for await (const { name } of entries) {
        if (!name.endsWith(TEMPORARY)) continue;
        const stats = await unlessMissing(stat(join(root, name)));
        if (stats !== undefined && Date.now() - stats.mtimeMs >= olderThanMs)
          await rm(join(root, name), { force: true });
      }
    },
  };
}
