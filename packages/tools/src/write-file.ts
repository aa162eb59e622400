import { CrewboardError, type Tool, WriteFileInput } from '@crewboard/contracts';
import type { z } from 'zod';
import type { FileLocks } from './file-locks.ts';
import { atPlace, lockKey } from './place.ts';
import { replaceFile } from './replace-file.ts';
import { counted, shownName } from './text.ts';
import type { Workspace } from './workspace.ts';

/** Far above what a model writes in one reply. */
const MAX_WRITE_BYTES = 2 * 1024 * 1024;

const DESCRIPTION = [
  'Write a text file of the workspace: {path, content}. What was there is replaced as a whole, in one step, and its',
  'mode kept; missing folders are made. The content is written as UTF-8, unchanged: end the last line yourself.',
  `At most ${MAX_WRITE_BYTES} bytes. To change a part of a file use edit_file.`,
  'The path is relative to the workspace; nothing outside it can be written.',
].join(' ');

async function write(
  workspace: Workspace,
  path: string,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  return atPlace(workspace, path, { makeFolders: true }, async (place) => {
    await replaceFile(place, bytes);
    const { stats } = place;
    const before = stats === undefined ? 'a new file' : `in place of ${counted(stats.size, 'byte')}`;
    return `${shownName(place.path)} written · ${counted(bytes.length, 'byte')} · ${before}`;
  });
}

/** Makes `write_file` for a workspace; `locks` are those of the process. */
export function createWriteFileTool(
  workspace: Workspace,
  locks: FileLocks,
): Tool<z.infer<typeof WriteFileInput>> {
  return {
    name: 'write_file',
    description: DESCRIPTION,
    inputSchema: WriteFileInput,
    readOnly: false,
    async execute({ path, content: text }, { signal }) {
      const bytes = Buffer.from(text, 'utf8');
      if (bytes.length > MAX_WRITE_BYTES) {
        throw new CrewboardError(
          'payload_too_large',
          `the content has ${bytes.length} bytes, and at most ${MAX_WRITE_BYTES} can be written`,
          { limitBytes: MAX_WRITE_BYTES },
        );
      }
      const key = await lockKey(workspace, path);
      const content = await locks.run(key, () => write(workspace, path, bytes, signal));
      return { content };
    },
  };
}
