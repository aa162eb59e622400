import { type Tool, WriteArtifactInput } from '@crewboard/contracts';
import type { ArtifactAccess } from './access.ts';

/** Makes `write_artifact`. */
export function createWriteArtifactTool(access: Pick<ArtifactAccess, 'write'>): Tool<WriteArtifactInput> {
  return {
    name: 'write_artifact',
    description:
      'Stores a file of your results: {path, content}, path relative such as "reports/summary.md". Answers {ref, path, bytes}. The same path again replaces the file. Others see it once your submission is accepted. For long results: name refs or paths in board_submit.artifacts, or give {"ref": ...} as its output when that is over 64 KB.',
    inputSchema: WriteArtifactInput,
    readOnly: false,
    idempotent: true,
    async execute({ path, content }, { requestId, signal }) {
      const file = { path, content: new TextEncoder().encode(content) };
      const { ref, bytes } = await access.write(file, { requestId, signal });
      return { content: JSON.stringify({ ref, path, bytes }) };
    },
  };
}
