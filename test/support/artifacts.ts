import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hold } from '@crewboard/board';
import { type Artifact, newSecret } from '@crewboard/contracts';
import { type ArtifactStore, createFileArtifactStore } from '@crewboard/tools';
import { putArtifact } from '../../packages/orchestrator/src/artifacts/put-artifact.ts';
import type { BoardFixture } from './board.ts';

/** A store of files in a folder of its own; disposing removes it. */
export interface TestStore extends AsyncDisposable {
  artifacts: ArtifactStore;
  /** Names in the folder of a job, sorted. */
  names(jobId: string): Promise<string[]>;
  /** Stores a text and commits it, as an agent's tool does. */
  put(
    board: Pick<BoardFixture, 'boards'>,
    hold: Hold,
    path: string,
    content: string,
    options?: { isKept?: boolean; requestId?: string },
  ): Promise<Artifact>;
}

export async function openTestStore(): Promise<TestStore> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-artifacts-')));
  const artifacts = createFileArtifactStore(root);
  return {
    artifacts,
    names: async (jobId) => (await readdir(join(root, jobId)).catch(() => [])).sort(),
    put: ({ boards }, hold, path, content, { isKept = false, requestId = newSecret() } = {}) =>
      putArtifact(
        { boards, artifacts },
        hold,
        { path, content: Buffer.from(content), isKept },
        { requestId, signal: new AbortController().signal },
      ),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** All bytes as text. */
export async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
