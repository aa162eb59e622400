import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, relative, resolve } from 'node:path';
import { isInside, pathParts } from './paths.ts';
import { systemErrorCode } from './system-error.ts';
import { isDenied, type Workspace } from './workspace.ts';

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40;

/** Where a path of the workspace leads, or why it leads nowhere that an agent may go. */
export type Location =
  | { kind: 'found'; path: string; real: string; stats: Stats }
  | { kind: 'outside'; path: string }
  | { kind: 'denied'; path: string }
  | { kind: 'missing'; path: string }
  | { kind: 'unreadable'; path: string; reason: string };

type Step = { kind: 'at'; stats: Stats } | { kind: 'link'; target: string };

async function lookAt(real: string): Promise<Step> {
  const stats = await lstat(real);
  return stats.isSymbolicLink() ? { kind: 'link', target: await readlink(real) } : { kind: 'at', stats };
}

/** `path` from the file system's root, with the name by which the workspace was opened made physical. */
function insideAlias(workspace: Workspace, path: string): string {
  if (isInside(workspace.root, path) || !isInside(workspace.openedAs, path)) return path;
  return join(workspace.root, relative(workspace.openedAs, path));
}

/**
 * Goes from the root part by part and resolves links itself, so that nothing outside is ever looked at: what lies
 * there can't be told from the answers. Above the root only its own ancestors are passed, and those are physical.
 */
async function follow(workspace: Workspace, path: string): Promise<Location> {
  const { root } = workspace;
  const pending = pathParts(relative(root, resolve(root, path))).reverse();
  let current = root;
  let stats = await lstat(root);
  let links = 0;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    current = part === '..' ? dirname(current) : join(current, part);
    if (current !== root && isInside(current, root)) continue;
    if (!isInside(root, current)) return { kind: 'outside', path };
    if (isDenied(workspace, current)) return { kind: 'denied', path };
    const step = await lookAt(current);
    if (step.kind === 'at') {
      stats = step.stats;
      continue;
    }
    if (++links > MAX_LINKS) return { kind: 'unreadable', path, reason: 'too many links (ELOOP)' };
    const target = isAbsolute(step.target) ? insideAlias(workspace, step.target) : step.target;
    current = isAbsolute(target) ? parse(target).root : dirname(current);
    pending.push(...pathParts(target).reverse());
  }
  // A link may end on an ancestor of the root, which the loop passes but must not answer.
  return isInside(root, current) ? { kind: 'found', path, real: current, stats } : { kind: 'outside', path };
}

/**
 * Finds `asked`: relative to the workspace, or absolute and inside it; "." and ".." are taken as text. The answer's
 * `path` is relative and normalised ("." for the root), `real` is absolute and without links. Never throws for what
 * is on disk.
 */
export async function locate(workspace: Workspace, asked: string): Promise<Location> {
  const absolute = insideAlias(workspace, resolve(workspace.root, asked));
  if (!isInside(workspace.root, absolute)) return { kind: 'outside', path: asked };
  const path = relative(workspace.root, absolute) || '.';
  // Refused by name before looking, so that whether a denied file exists can't be told either.
  if (isDenied(workspace, absolute)) return { kind: 'denied', path };
  try {
    return await follow(workspace, path);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing', path };
    return { kind: 'unreadable', path, reason: code };
  }
}
