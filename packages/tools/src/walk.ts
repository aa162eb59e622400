import { constants, type Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { type Glob, parseGlob } from './glob.ts';
import { type Location, locate } from './locate.ts';
import { type Found, openLocated } from './open-file.ts';
import { isInside } from './paths.ts';
import { refusal } from './refusals.ts';
import { systemErrorCode } from './system-error.ts';
import { isDenied, type Workspace } from './workspace.ts';

/** A walk stops after this many entries of folders, whether they match or not. */
export const MAX_WALK_ENTRIES = 200_000;

/** Something that a walk found; a folder shows only when it can't be read. */
export interface Entry {
  path: string;
  kind: 'file' | 'link' | 'special' | 'folder';
  /** Why a folder can't be read. */
  problem?: string;
}

export interface Walk {
  /** In no order. */
  entries: Entry[];
  /** True when the walk ended at its bound: there may be more. */
  isStopped: boolean;
}

function kindOf(entry: Dirent): Entry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isDirectory() ? 'folder' : 'special';
}

/**
 * Calls `visit` for each name in a located folder until it answers false. Where the system can (`/proc`), the folder
 * is read through its open handle, so a link put in its place can't show another one.
 */
async function readFolder(
  workspace: Workspace,
  folder: Found,
  visit: (entry: Dirent) => boolean,
): Promise<void> {
  const handle = await openLocated(workspace, folder, constants.O_DIRECTORY);
  try {
    const options = { bufferSize: 512 };
    const entries = await opendir(`/proc/self/fd/${handle.fd}`, options).catch(() =>
      opendir(folder.real, options),
    );
    for await (const entry of entries) if (!visit(entry)) return;
  } finally {
    await handle.close();
  }
}

/** What Node puts for bytes of a name that are not UTF-8: such a name can be shown but not opened. */
export const WRONG_NAME = '\ufffd';

function problemWith(location: Exclude<Location, Found>): string {
  if (location.kind === 'missing') return 'its name is not valid UTF-8';
  return location.kind === 'unreadable' ? location.reason : location.kind;
}

function problemOf(error: unknown): string {
  if (error instanceof CrewboardError) return error.detail;
  return systemErrorCode(error) ?? 'unknown error';
}

/** One walk: the folders still to be read, what matched so far, and how many entries may still be seen. */
class Walker {
  readonly entries: Entry[] = [];
  private readonly pending: string[] = [];
  private readonly workspace: Workspace;
  private readonly glob: Glob;
  private left: number;

  constructor(workspace: Workspace, glob: Glob, maxEntries: number) {
    this.workspace = workspace;
    this.glob = glob;
    this.left = maxEntries;
  }

  async run(start: string, signal: AbortSignal): Promise<Walk> {
    this.pending.push(start);
    for (let path = this.pending.pop(); path !== undefined; path = this.pending.pop()) {
      signal.throwIfAborted();
      await this.readOne(path);
      if (this.left < 0) return { entries: this.entries, isStopped: true };
    }
    return { entries: this.entries, isStopped: false };
  }

  private async readOne(path: string): Promise<void> {
    const location = await locate(this.workspace, path);
    if (location.kind === 'missing' && !path.includes(WRONG_NAME)) return;
    if (location.kind !== 'found') {
      this.entries.push({ path, kind: 'folder', problem: problemWith(location) });
      return;
    }
    try {
      await readFolder(this.workspace, location, (entry) => this.see(path, location.real, entry));
    } catch (error) {
      this.entries.push({ path, kind: 'folder', problem: problemOf(error) });
    }
  }

  private see(folder: string, real: string, entry: Dirent): boolean {
    if (--this.left < 0) return false;
    if (isDenied(this.workspace, join(real, entry.name))) return true;
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    const kind = kindOf(entry);
    if (kind === 'folder') this.pending.push(path);
    else if (this.glob.matches(path)) this.entries.push({ path, kind });
    return true;
  }
}

/** The glob relative to the workspace; an absolute one must name a place in it. */
function relativeGlob(workspace: Workspace, glob: string): string {
  if (!isAbsolute(glob)) return glob;
  const root = [workspace.root, workspace.openedAs].find((folder) => isInside(folder, glob));
  if (root === undefined) throw refusal({ kind: 'outside', path: glob });
  return relative(root, glob) || '**/*';
}

/**
 * Finds the files, links and special files that match `glob`, and the folders that can't be read. Links are shown,
 * not followed, unless the glob itself begins with one. A glob that names a folder means all in it.
 * Throws `invalid_argument` for a wrong glob, `forbidden` for one that leads out or to something denied.
 */
export async function walk(
  workspace: Workspace,
  globText: string,
  signal: AbortSignal,
  maxEntries = MAX_WALK_ENTRIES,
): Promise<Walk> {
  if (globText.split('/').includes('..')) {
    throw new CrewboardError('forbidden', `The glob ${JSON.stringify(globText)} has "..".`, {
      path: 'glob',
      next: 'Write the glob from the workspace\'s root, such as "docs/**/*.md".',
    });
  }
  const glob = parseGlob(relativeGlob(workspace, globText));
  const base = await locate(workspace, glob.base);
  if (base.kind === 'missing') return { entries: [], isStopped: false };
  if (base.kind !== 'found') throw refusal(base);
  if (base.stats.isDirectory()) return await new Walker(workspace, glob, maxEntries).run(base.path, signal);
  if (glob.literal === undefined) return { entries: [], isStopped: false };
  return { entries: [{ path: base.path, kind: base.stats.isFile() ? 'file' : 'special' }], isStopped: false };
}
