import type { Boards } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';
import { isMissing } from '../missing.ts';

/** A content that a record of the job names. */
export interface NamedContent {
  jobId: string;
  sha256: string;
  /** What it is, in words for people. */
  what: string;
}

/**
 * What `read` answers of a content that is named. One that is not in the store is lost, so it is `unavailable`, unless
 * its job was deleted meanwhile: then `not_found` holds.
 */
export async function readNamed<T>(
  { index }: Pick<Boards, 'index'>,
  { jobId, sha256, what }: NamedContent,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isMissing(error) || (await index.wasDeleted(jobId))) throw error;
    throw new CrewboardError(
      'unavailable',
      `${what} is missing (artifacts/${jobId}/${sha256} in the data folder): see that CREWBOARD_DATA_DIR names the folder that all processes share, or put the file back from a backup of it.`,
      { retry: 'never' },
      { cause: error },
    );
  }
}
