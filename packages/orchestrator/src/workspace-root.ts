import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { CrewboardError, shownLine } from '@crewboard/contracts';
import { isDeniedName } from '@crewboard/tools';
import { within } from './within.ts';

/** A root over a network that is away holds up no start for longer. */
const ROOT_WITHIN_MS = 2000;

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

async function resolved(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

/** The first name below `root` on the way to `path` that agents never see. */
function closedNameBelow(root: string, path: string): string | undefined {
  return relative(root, path).split(sep).find(isDeniedName);
}

function mustBeOpen(path: string, real: string, realRoots: readonly string[]): void {
  const closed = realRoots.filter((root) => isInside(root, real)).map((root) => closedNameBelow(root, real));
  // A root may be anything that the operator names, so only what leads down from it counts.
  const [name] = closed;
  if (name === undefined || closed.includes(undefined)) return;
  throw new CrewboardError(
    'invalid_argument',
    `the workspace ${shownLine(path, 300)} lies in ${shownLine(name, 100)}, which is closed to agents. Nothing was changed. Choose a folder that has no such name on its way`,
    { path: 'workspace.path' },
  );
}

/** The roots that do not exist, or do not answer, at present; they may be mounted later. */
export async function missingRoots(roots: readonly string[]): Promise<string[]> {
  const found = await Promise.all(roots.map((root) => within(resolved(root), ROOT_WITHIN_MS)));
  return roots.filter((_, i) => found[i] === undefined || found[i] === 'late');
}

/** The roots as a refusal names them. */
async function rootsInWords(roots: readonly string[], realRoots: readonly string[]): Promise<string> {
  const missing = await missingRoots(roots);
  const shown = (paths: readonly string[]) => shownLine(paths.join(', '), 1000);
  if (missing.length === 0) return shown(realRoots);
  const gone = `${missing.length === roots.length ? 'none of them exists' : 'missing'}: ${shown(missing)}`;
  return realRoots.length === 0 ? gone : `${shown(realRoots)}; ${gone}`;
}

/**
 * Checks a job's workspace and returns its real path: an existing folder inside one of `roots`, and not inside the
 * data folder. Throws `forbidden` outside the roots, `invalid_argument` for a missing one, a file, or a folder that is
 * closed to agents or lies in one.
 */
export async function checkWorkspace(
  path: string,
  roots: readonly string[],
  dataDir: string,
): Promise<string> {
  if (!isAbsolute(path)) {
    throw new CrewboardError(
      'invalid_argument',
      `workspace.path must be absolute, got "${shownLine(path, 300)}"`,
      {
        path: 'workspace.path',
      },
    );
  }
  const realRoots = (await Promise.all(roots.map(resolved))).filter((root) => root !== undefined);
  const outside = async () =>
    new CrewboardError(
      'forbidden',
      `the workspace ${shownLine(path, 300)} is outside the allowed roots (${await rootsInWords(roots, realRoots)}). Nothing was changed. To allow it, set CREWBOARD_WORKSPACES for the server and restart that.`,
    );
  const real = await resolved(path);
  if (real === undefined) {
    // Whether a path outside exists is nobody's business.
    if (![...roots, ...realRoots].some((root) => isInside(root, path))) throw await outside();
    const gone = (await missingRoots(roots)).find((root) => isInside(root, path));
    const why = gone === undefined ? '' : `, for the allowed root ${shownLine(gone, 300)} does not exist`;
    throw new CrewboardError(
      'invalid_argument',
      `the workspace ${shownLine(path, 300)} does not exist${why}`,
      {
        path: 'workspace.path',
      },
    );
  }
  if (!realRoots.some((root) => isInside(root, real))) throw await outside();
  const realData = await resolved(dataDir);
  if (realData !== undefined && isInside(realData, real)) throw await outside();
  mustBeOpen(path, real, realRoots);
  if (!(await stat(real)).isDirectory()) {
    throw new CrewboardError('invalid_argument', `the workspace ${shownLine(path, 300)} is not a folder`, {
      path: 'workspace.path',
    });
  }
  return real;
}
