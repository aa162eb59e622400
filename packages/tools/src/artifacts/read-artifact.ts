import { CrewboardError, ReadArtifactInput, type Tool } from '@crewboard/contracts';
import { shownName } from '../text.ts';
import type { ArtifactAccess } from './access.ts';
import { readTextPage } from './text-page.ts';

const DEFAULT_LIMIT = 50_000;

const DESCRIPTION = [
  'Read an artifact as text: {ref, offset?, limit?}.',
  'The first line of the answer is "<path> · characters A-B of N · M bytes"; after it comes the text from character A',
  'up to B. To read on, call again with offset B, until B is N.',
  `offset and limit count UTF-16 code units; limit is ${DEFAULT_LIMIT} when not given and at most 100000.`,
].join(' ');

/** Makes `read_artifact`; `whose` ends its description: whose artifacts this agent may read. */
export function createReadArtifactTool(
  access: Pick<ArtifactAccess, 'find' | 'open'>,
  whose: string,
): Tool<ReadArtifactInput> {
  return {
    name: 'read_artifact',
    description: `${DESCRIPTION} ${whose}`,
    inputSchema: ReadArtifactInput,
    readOnly: true,
    async execute({ ref, offset = 0, limit = DEFAULT_LIMIT }, { signal }) {
      const artifact = await access.find(ref);
      signal.throwIfAborted();
      const content = await access.open(artifact);
      const stop = () => content.destroy();
      signal.addEventListener('abort', stop, { once: true });
      // Reading to the end closes it; leaving earlier does, too.
      const page = await readTextPage(content, offset, limit).finally(() =>
        signal.removeEventListener('abort', stop),
      );
      if (offset > page.total) {
        throw new CrewboardError(
          'invalid_argument',
          `${shownName(artifact.path)} has ${page.total} characters: offset ${offset} is beyond its end.`,
          { path: 'offset', example: { ref, offset: 0 } },
        );
      }
      const range = `characters ${page.start}-${page.end} of ${page.total}`;
      return { content: `${shownName(artifact.path)} · ${range} · ${artifact.bytes} bytes\n${page.text}` };
    },
  };
}
