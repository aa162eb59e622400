import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ArchiveLine, newSecret } from '@crewboard/contracts';
import { syncFolder } from '@crewboard/tools';

/** Lines are written together until they have this many characters. */
const WRITTEN_AT_ONCE = 256 * 1024;

/** What a file that is being written ends with. */
export const TEMPORARY = '.tmp';

async function writeLines(handle: FileHandle, lines: AsyncIterable<ArchiveLine>): Promise<void> {
  const hash = createHash('sha256');
  let waiting = '';
  const flush = async () => {
    hash.update(waiting);
    await handle.writeFile(waiting);
    waiting = '';
  };
  for await (const line of lines) {
    waiting += `${JSON.stringify(line)}\n`;
    if (waiting.length >= WRITTEN_AT_ONCE) await flush();
  }
  await flush();
  await handle.writeFile(`${JSON.stringify({ kind: 'end', sha256: hash.digest('hex') })}\n`);
  await handle.sync();
}

/**
 * Writes an archive so that its name stands for a whole one at any time: to a temporary file, made durable, renamed.
 * Readable by its owner only. What `lines` throws leaves the archive before as it was.
 */
export async function writeArchive(path: string, lines: AsyncIterable<ArchiveLine>): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${newSecret()}${TEMPORARY}`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await writeLines(handle, lines).finally(() => handle.close());
    await rename(temporary, path);
    await syncFolder(folder);
  } finally {
    // Gone already when it was renamed.
    await rm(temporary, { force: true });
  }
}
