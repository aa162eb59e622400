import { createHash } from 'node:crypto';
import type { Boards, Hold } from '@crewboard/board';
import type { Artifact } from '@crewboard/contracts';
import { type ArtifactStore, contentTypeOf } from '@crewboard/tools';

/** Where artifacts are: their records on the boards, their contents in the store. */
export interface ArtifactPlaces {
  boards: Boards;
  artifacts: ArtifactStore;
}

export interface ArtifactFile {
  path: string;
  content: Uint8Array;
  /** A tool's output that is kept whole, and no file of the task's results. */
  isKept: boolean;
}

/** The ref of what a task writes: the same content under the same path is the same artifact, also after a crash. */
function refOf(taskId: string, path: string, sha256: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([taskId, path, sha256]))
    .digest('hex');
  return `a_${digest.slice(0, 20)}`;
}

/**
 * Stores a content, then makes it an artifact of the attempt. A crash between the two leaves a content that nobody
 * wants, for the sweep; a sweep between the two is made good here, for it can't be told from outside that a record was
 * about to come. Errors: `payload_too_large`, those of the board's commit.
 */
export async function putArtifact(
  { boards, artifacts }: ArtifactPlaces,
  hold: Hold,
  { path, content, isKept }: ArtifactFile,
  { requestId, signal }: { requestId: string; signal: AbortSignal },
): Promise<Artifact> {
  const { sha256, bytes } = await artifacts.put(hold.jobId, content, signal);
  const contentType = contentTypeOf(path);
  const ref = refOf(hold.taskId, path, sha256);
  const artifact = { ref, path, bytes, sha256, contentType, isKept };
  const committed = await boards.commitArtifact(hold, requestId, artifact);
  if (!(await artifacts.has(hold.jobId, { sha256, bytes }))) await artifacts.put(hold.jobId, content, signal);
  return committed;
}
