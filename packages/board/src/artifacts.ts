import { type Artifact, isoTime } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { type CallName, storedName } from './call-name.ts';
import type { Hold } from './holder-calls.ts';
import { parseReply } from './replies.ts';

/** An artifact's record as scripts answer it. */
export const ArtifactRow = z
  .tuple([z.string(), z.string(), z.number(), z.string(), z.string(), z.string(), z.number()])
  .transform(
    ([ref, path, bytes, sha256, contentType, taskId, createdAt]): Artifact => ({
      ref,
      path,
      bytes,
      sha256,
      contentType,
      taskId,
      createdAt: isoTime(createdAt),
    }),
  );
const CommitReply = z.tuple([z.enum(['ok', 'already']), ArtifactRow]);
const FindReply = z.union([z.tuple([z.literal('ok'), ArtifactRow]), z.tuple([z.literal('none')])]);
const ListReply = z.tuple([z.literal('ok'), z.array(ArtifactRow), z.number()]);

/** An artifact whose content is in the store. */
export interface NewArtifact {
  /** Of task, path and content: the same three are the same artifact. */
  ref: string;
  path: string;
  bytes: number;
  sha256: string;
  contentType: string;
  /** A tool's output that is kept whole: no file of the task's results, unless its submit names it. */
  isKept: boolean;
}

/** Who made which artifact, and what shows under a path; the contents lie in a store of their own. */
export function artifactRecords(io: BoardIo) {
  return {
    /**
     * Makes an artifact one of the attempt; the same path again in its conversation replaces. It shows under its path
     * once a submit of the conversation is accepted, and is forgotten when the attempt fails. Errors: those of the
     * token, `limit_exceeded`.
     */
    async commitArtifact(hold: Hold, name: CallName, artifact: NewArtifact): Promise<Artifact> {
      const { ref, path, bytes, sha256, contentType, isKept } = artifact;
      const args = [
        hold.taskId,
        hold.token,
        storedName(name, 'artifact'),
        ref,
        path,
        bytes,
        sha256,
        contentType,
        isKept ? 1 : 0,
      ];
      const [, row] = parseReply(await io.run(hold.jobId, 'commit_artifact', args), CommitReply);
      return row;
    },

    /**
     * An artifact by its ref, or by a path. A task finds its own and what its dependencies submitted; without a reader
     * everything of the board is found, and by a path what shows under it.
     */
    async findArtifact(jobId: string, name: string, reader?: string): Promise<Artifact | undefined> {
      const reply = parseReply(await io.run(jobId, 'find_artifact', [name, reader ?? '']), FindReply);
      return reply[1];
    },

    /** A page of what shows under a path after the number `after`, in the order in which it came to. */
    async artifactPage(
      jobId: string,
      after: number,
      limit: number,
    ): Promise<{ artifacts: Artifact[]; nextAfter: number | undefined }> {
      const reply = await io.run(jobId, 'list_artifacts', [after, limit]);
      const [, artifacts, last] = parseReply(reply, ListReply);
      return { artifacts, nextAfter: last > 0 ? last : undefined };
    },

    /** Which of these contents an artifact of the board has, or a journal that lies in the store. */
    async wantedContents(jobId: string, hashes: readonly string[]): Promise<Set<string>> {
      if (hashes.length === 0) return new Set();
      const fields = hashes.map((sha256) => `s:${sha256}`);
      const countsIn = (key: 'artifacts' | 'journals') =>
        io.guard(() => io.redis.hmget(io.keys.board(jobId, key), ...fields));
      const artifacts = await countsIn('artifacts');
      const journals = await countsIn('journals');
      return new Set(hashes.filter((_, i) => artifacts[i] !== null || journals[i] !== null));
    },
  };
}
