import { withoutAbsent } from '@crewboard/board';
import {
  type Artifact,
  ArtifactPath,
  ArtifactRef,
  CrewboardError,
  cursorAfter,
  placeOf,
  shownLine,
} from '@crewboard/contracts';
import type { ArtifactCalls, Scope } from '../service.ts';
import { visibleJob } from '../visible-job.ts';
import { readNamed } from './missing-content.ts';
import type { ArtifactPlaces } from './put-artifact.ts';

const PAGE_DEFAULT = 50;

const isName = (name: string) => ArtifactRef.safeParse(name).success || ArtifactPath.safeParse(name).success;

/** Artifacts as people and programs read them; see ArtifactCalls. */
export function artifactService({ boards, artifacts }: ArtifactPlaces): ArtifactCalls {
  async function find(scope: Scope, jobId: string, name: string): Promise<Artifact> {
    await visibleJob(boards, scope, jobId);
    const found = isName(name) ? await boards.findArtifact(jobId, name) : undefined;
    if (found !== undefined) return found;
    throw new CrewboardError(
      'not_found',
      'no such artifact. A file shows under its path once the submit of its task was accepted.',
      { next: { call: 'list_artifacts' } },
    );
  }

  return {
    async listArtifacts(scope, jobId, { cursor, limit = PAGE_DEFAULT }) {
      // Read before the page: what happens in between is in both, and missing from neither.
      const { asOf } = await visibleJob(boards, scope, jobId);
      const { artifacts: page, nextAfter } = await boards.artifactPage(
        jobId,
        placeOf('artifacts', cursor),
        limit,
      );
      return withoutAbsent({
        artifacts: page,
        nextCursor: nextAfter === undefined ? undefined : cursorAfter('artifacts', nextAfter),
        asOf,
      });
    },

    async findArtifact(scope, jobId, name) {
      const artifact = await find(scope, jobId, name);
      const { sha256, path } = artifact;
      const content = { jobId, sha256, what: `the content of ${shownLine(path, 300)}` };
      return {
        artifact,
        read: (range) => readNamed(boards, content, () => artifacts.read(jobId, sha256, range)),
      };
    },
  };
}
