import { CrewboardError, ReadFileInput, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import { type Decoded, decodeUtf8, looksBinary } from './decode.ts';
import { locate } from './locate.ts';
import { nearestPaths } from './nearest.ts';
import { readLocated } from './open-file.ts';
import { refusal } from './refusals.ts';
import { counted, pairStart, shownName } from './text.ts';
import type { Workspace } from './workspace.ts';

const DEFAULT_LIMIT = 50_000;

const DESCRIPTION = [
  'Read a text file of the workspace.',
  'The first line of the answer is "<path> · characters A-B of N · M bytes"; after it comes the file from',
  'character A up to B, unchanged. To read on, call again with offset B, until B is N.',
  'offset and limit count UTF-16 code units, like the length of a JavaScript string;',
  `limit is ${DEFAULT_LIMIT} when not given and at most 100000.`,
  'Bytes that are not valid UTF-8, and NUL bytes, show as U+FFFD, and the first line says how many.',
  'The path is relative to the workspace; nothing outside it can be read.',
].join(' ');

interface Page {
  start: number;
  end: number;
}

/**
 * The page of `text` that begins at `offset`. Both ends move back from the middle of a surrogate pair, so pages of
 * a fixed step of two or more join to the text. A page of one unit takes a whole pair, so that reading goes on.
 */
function pageOf(text: string, offset: number, limit: number): Page {
  const start = pairStart(text, offset);
  const end = pairStart(text, Math.min(offset + limit, text.length));
  return { start, end: end === start && start < text.length ? start + 2 : end };
}

function header(path: string, page: Page, decoded: Decoded, bytes: number): string {
  const parts = [
    shownName(path),
    `characters ${page.start}-${page.end} of ${decoded.text.length}`,
    `${bytes} bytes`,
  ];
  if (decoded.invalid > 0) {
    parts.push(`not valid UTF-8: ${counted(decoded.invalid, 'wrong sequence')} shown as U+FFFD`);
  }
  if (decoded.nuls > 0) parts.push(`${counted(decoded.nuls, 'NUL byte')} shown as U+FFFD`);
  if (looksBinary(decoded)) parts.push('looks like a binary file');
  return parts.join(' · ');
}

/** Makes `read_file` for a workspace. Offsets and limits are UTF-16 code units. */
export function createReadFileTool(workspace: Workspace): Tool<z.infer<typeof ReadFileInput>> {
  return {
    name: 'read_file',
    description: DESCRIPTION,
    inputSchema: ReadFileInput,
    readOnly: true,
    async execute({ path, offset = 0, limit = DEFAULT_LIMIT }, { signal }) {
      signal.throwIfAborted();
      const location = await locate(workspace, path);
      if (location.kind === 'missing') {
        throw refusal(location, await nearestPaths(workspace, location.path, signal));
      }
      if (location.kind !== 'found') throw refusal(location);
      const bytes = await readLocated(workspace, location, signal);
      const decoded = decodeUtf8(bytes);
      if (offset > decoded.text.length) {
        throw new CrewboardError(
          'invalid_argument',
          `${shownName(location.path)} has ${decoded.text.length} characters: offset ${offset} is beyond its end.`,
          { path: 'offset', example: { path, offset: 0 } },
        );
      }
      const page = pageOf(decoded.text, offset, limit);
      const content = decoded.text.slice(page.start, page.end);
      const isExact = decoded.invalid === 0 && decoded.nuls === 0;
      return {
        content: `${header(location.path, page, decoded, bytes.length)}\n${content}`,
        // What can't be shown as it is can be had as it is.
        ...(isExact ? {} : { whole: { content: bytes, path: location.path } }),
      };
    },
  };
}
