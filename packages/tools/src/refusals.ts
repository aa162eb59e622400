import { CrewboardError } from '@crewboard/contracts';
import { escapeGlob } from './glob.ts';
import type { Location } from './locate.ts';
import { shownName } from './text.ts';

const LIST = 'list_files {"glob": "**/*"}';

/** The refusal for a location that can't be used. `nearest` are paths that a misspelt one may have meant. */
export function refusal(
  location: Exclude<Location, { kind: 'found' }>,
  nearest: readonly string[] = [],
): CrewboardError {
  const name = shownName(location.path);
  switch (location.kind) {
    case 'outside':
      return new CrewboardError(
        'forbidden',
        `${name} leaves the workspace: only files in it can be used. Use a path relative to its root.`,
        { next: LIST },
      );
    case 'denied':
      return new CrewboardError(
        'forbidden',
        `${name} is closed to agents: secrets, .git and the data folder are never shown or changed. Go on without it.`,
        { next: LIST },
      );
    case 'unreadable':
      return new CrewboardError('forbidden', `${name} can't be read: ${location.reason}.`, { next: LIST });
    case 'missing': {
      const quoted = location.path.startsWith('"')
        ? ' A name listed in double quotes is JSON: give the text that it stands for.'
        : '';
      const hint =
        nearest.length === 0 ? 'List what is there first.' : `Near it: ${nearest.map(shownName).join(', ')}.`;
      return new CrewboardError('not_found', `There is no file ${name}. ${hint}${quoted}`, {
        ...(nearest.length === 0 ? {} : { nearest: nearest.map((path) => path.toWellFormed()) }),
        next: LIST,
      });
    }
  }
}

/** The refusal for something that is there but is not a regular file. */
export function notAFile(path: string, kind: 'folder' | 'special'): CrewboardError {
  const name = shownName(path);
  if (kind === 'special') {
    return new CrewboardError(
      'forbidden',
      `${name} is not a regular file (a pipe, socket or device) and is never opened. Choose another file.`,
      { next: LIST },
    );
  }
  const glob = path === '.' ? '**/*' : `${escapeGlob(path.toWellFormed())}/**/*`;
  return new CrewboardError('invalid_argument', `${name} is a folder: name a file in it.`, {
    path: 'path',
    next: `list_files ${JSON.stringify({ glob })}`,
  });
}
