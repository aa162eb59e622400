import { CrewboardError, EditFileInput, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import type { FileLocks } from './file-locks.ts';
import { MAX_FILE_BYTES, readHeld } from './open-file.ts';
import { atPlace, lockKey } from './place.ts';
import { replaceFile } from './replace-file.ts';
import { counted, shownName } from './text.ts';
import type { Workspace } from './workspace.ts';

const LINES_NAMED = 10;
const LINE_FEED = 0x0a;

const DESCRIPTION = [
  'Change one place of a text file of the workspace: {path, find, replace}. find must stand in the file exactly once,',
  'character for character, with its spaces and line ends (CRLF too); take it from what read_file answers, and enough',
  'of it to be unique. It is replaced in one step, all else stays byte for byte, and the mode is kept.',
  'When find stands there never or several times, nothing is changed and the answer says how often.',
].join(' ');

/** Where `find` stands in `bytes`, places that overlap included; at most `most`. */
function placesOf(bytes: Buffer, find: Buffer, most: number): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(find); at >= 0 && places.length < most; at = bytes.indexOf(find, at + 1)) {
    places.push(at);
  }
  return places;
}

function lineAt(bytes: Buffer, place: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0 && at < place; at = bytes.indexOf(LINE_FEED, at + 1))
    line++;
  return line;
}

/** A hint for the commonest slip: line ends of the other kind. */
function lineEndHint(bytes: Buffer, find: string): string {
  const lineFeeds = find.replaceAll('\r\n', '\n');
  for (const [other, words] of [
    [lineFeeds.replaceAll('\n', '\r\n'), 'The lines of this file end with CRLF: write \\r\\n in find.'],
    [lineFeeds, 'The lines of this file end with LF alone: leave \\r out of find.'],
  ] as const) {
    if (other !== find && bytes.includes(other)) return ` ${words}`;
  }
  return ' Read the file and copy the text as it is there.';
}

/** The one place of `find`; throws `invalid_argument` that says how often it stands there. */
function onlyPlace(path: string, bytes: Buffer, find: string): number {
  const places = placesOf(bytes, Buffer.from(find, 'utf8'), 1000);
  const [only] = places;
  if (only !== undefined && places.length === 1) return only;
  const name = shownName(path);
  if (only === undefined) {
    throw new CrewboardError(
      'invalid_argument',
      `find stands 0 times in ${name}, it must stand there once. Nothing was changed.${lineEndHint(bytes, find)}`,
      { path: 'find', next: `read_file ${JSON.stringify({ path })}` },
    );
  }
  const lines = places.slice(0, LINES_NAMED).map((place) => lineAt(bytes, place));
  const more = places.length > LINES_NAMED ? ', ...' : '';
  throw new CrewboardError(
    'invalid_argument',
    `find stands ${places.length === 1000 ? 'at least 1,000' : places.length} times in ${name} (lines ${lines.join(', ')}${more}), it must stand there once. Nothing was changed. Give more of the text around the place that you mean.`,
    { path: 'find' },
  );
}

function edited(path: string, bytes: Buffer, place: number, find: string, replace: string): Buffer {
  const after = bytes.subarray(place + Buffer.byteLength(find, 'utf8'));
  const result = Buffer.concat([bytes.subarray(0, place), Buffer.from(replace, 'utf8'), after]);
  if (result.length <= MAX_FILE_BYTES) return result;
  throw new CrewboardError(
    'payload_too_large',
    `${shownName(path)} would have ${result.length} bytes, more than ${MAX_FILE_BYTES}`,
    { limitBytes: MAX_FILE_BYTES },
  );
}

async function edit(
  workspace: Workspace,
  { path: asked, find, replace }: z.infer<typeof EditFileInput>,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  // Whatever changes the file from here on is noticed before it is replaced.
  return atPlace(workspace, asked, { makeFolders: false }, async (place) => {
    const bytes = await readHeld(place, signal);
    const at = onlyPlace(place.path, bytes, find);
    const result = edited(place.path, bytes, at, find, replace);
    await replaceFile(place, result);
    const line = lineAt(bytes, at);
    return `${shownName(place.path)} edited at line ${line} · ${counted(result.length, 'byte')} now`;
  });
}

/** Makes `edit_file` for a workspace; `locks` are those of the process. */
export function createEditFileTool(
  workspace: Workspace,
  locks: FileLocks,
): Tool<z.infer<typeof EditFileInput>> {
  return {
    name: 'edit_file',
    description: DESCRIPTION,
    inputSchema: EditFileInput,
    readOnly: false,
    async execute(input, { signal }) {
      if (input.find === input.replace) {
        throw new CrewboardError('invalid_argument', 'find and replace are the same', {
          path: 'replace',
        });
      }
      const key = await lockKey(workspace, input.path);
      return { content: await locks.run(key, () => edit(workspace, input, signal)) };
    },
  };
}
