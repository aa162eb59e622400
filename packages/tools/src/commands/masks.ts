import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import type { CrewboardError } from '@crewboard/contracts';
import { isDeniedName, isInside } from '../paths.ts';
import { systemErrorCode } from '../system-error.ts';
import { shownName } from '../text.ts';
import { notStarted } from './start-process.ts';
import { TopFolders } from './top-folders.ts';

/** Something that a sandboxed command must not see, although it lies in what the sandbox shows. */
export interface Masked {
  /** Bytes: a name need not be valid UTF-8. */
  path: Buffer;
  isFolder: boolean;
}

/** Bubblewrap takes 9,000 arguments, and a mask needs up to four. */
const MASKS_MOST = 2000;
const ENTRIES_MOST = 1_000_000;
const FOLDERS_AT_ONCE = 32;

/** What is no folder (any more): the search goes on without it. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);
/** What can't be read here, but perhaps by the command, so it must not count as seen. */
const CLOSED = new Set(['EACCES', 'EPERM', 'ENAMETOOLONG', 'EIO', 'ESTALE']);

/**
 * A folder with a longer path is closed as a whole. The kernel takes 4,095 bytes; a name in the folder adds up to 256,
 * and bubblewrap puts a few before it.
 */
const PATH_BYTES_MOST = 3800;

async function readFolder(folder: Buffer): Promise<Dirent<Buffer>[] | 'closed'> {
  if (folder.length > PATH_BYTES_MOST) return 'closed';
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    const code = systemErrorCode(error) ?? 'unknown';
    if (GONE.has(code)) return [];
    if (CLOSED.has(code)) return 'closed';
    const where = shownName(folder.toString('utf8'));
    throw notStarted(`${where} could not be searched for what is closed to agents (${code})`, error);
  }
}

function tooMany(what: string, where: TopFolders): CrewboardError {
  return notStarted(`the workspace has more than ${what}, most of them in ${where.most()}`);
}

/** One search: the folders still to be read and what is to be masked so far. */
class Search {
  readonly masked: Masked[] = [];
  private readonly pending: Buffer[];
  private readonly deniedPaths: ReadonlySet<string>;
  private readonly entriesIn: TopFolders;
  private readonly maskedIn: TopFolders;
  private seen = 0;

  constructor(root: string, deniedPaths: readonly string[]) {
    this.entriesIn = new TopFolders(root);
    this.maskedIn = new TopFolders(root);
    this.pending = [Buffer.from(root)];
    this.deniedPaths = new Set(deniedPaths);
  }

  async run(signal: AbortSignal): Promise<Masked[]> {
    while (this.pending.length > 0) {
      signal.throwIfAborted();
      await Promise.all(this.pending.splice(-FOLDERS_AT_ONCE).map((folder) => this.read(folder)));
      if (this.seen > ENTRIES_MOST) {
        throw tooMany(`${ENTRIES_MOST} entries, too many to be searched`, this.entriesIn);
      }
      if (this.masked.length > MASKS_MOST) {
        throw tooMany(`${MASKS_MOST} entries that are closed to agents`, this.maskedIn);
      }
    }
    return this.masked;
  }

  private async read(folder: Buffer): Promise<void> {
    const entries = await readFolder(folder);
    if (entries === 'closed') {
      this.mask({ path: folder, isFolder: true }, folder);
      return;
    }
    this.seen += entries.length;
    this.entriesIn.add(folder, entries.length);
    for (const entry of entries) {
      const path = Buffer.concat([folder, Buffer.from('/'), entry.name]);
      const isFolder = entry.isDirectory();
      // A link shows only what can be reached without it.
      if (this.isDenied(entry.name, path) && !entry.isSymbolicLink()) this.mask({ path, isFolder }, folder);
      else if (isFolder) this.pending.push(path);
    }
  }

  private mask(masked: Masked, folder: Buffer): void {
    this.masked.push(masked);
    this.maskedIn.add(folder, 1);
  }

  /** Compares as text: a name with bytes that are none can still begin like a denied one. */
  private isDenied(name: Buffer, path: Buffer): boolean {
    return isDeniedName(name.toString('utf8')) || this.deniedPaths.has(path.toString('utf8'));
  }
}

async function findDenied(path: string): Promise<Masked[]> {
  const stats = await lstat(path).catch(() => undefined);
  return stats === undefined ? [] : [{ path: Buffer.from(path), isFolder: stats.isDirectory() }];
}

/** Files of the system that only some of its users may read, such as keys and password hashes. */
async function findPrivate(folder: string): Promise<Masked[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry): Promise<Masked[]> => {
      const path = `${folder}/${entry.name}`;
      const stats = await lstat(path).catch(() => undefined);
      if (stats === undefined || stats.isSymbolicLink()) return [];
      const isFolder = stats.isDirectory();
      if ((stats.mode & (isFolder ? 0o001 : 0o004)) === 0) return [{ path: Buffer.from(path), isFolder }];
      return isFolder ? await findPrivate(path) : [];
    }),
  );
  return found.flat();
}

/**
 * Finds all that is to be masked now: denied names at any depth of the workspace, denied folders that are in sight,
 * and the private files of `/etc`. Throws `unavailable` when the workspace is too large to be searched.
 */
export async function findMasked(
  { workspaceRoot, deniedPaths }: { workspaceRoot: string; deniedPaths: readonly string[] },
  isSystemPath: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Masked[]> {
  const elsewhere = deniedPaths.filter((path) => !isInside(workspaceRoot, path) && isSystemPath(path));
  const found = await Promise.all([
    new Search(workspaceRoot, deniedPaths).run(signal),
    findPrivate('/etc'),
    ...elsewhere.map(findDenied),
  ]);
  return found.flat();
}
