import type { Boards, Hold } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';

/** The first version of a task is 1. */
const NO_VERSION = 0;

/**
 * Asks the board what it says to a holder before it looks at what the holder wants, in the fixed order of refusals:
 * token, request ID, outdated token, ended job, version (where one is named). The question is a release at a version
 * that no task has, so it never changes anything. `repeat`: the request was carried out before.
 * Errors: `not_owner`, `lease_lost`, `terminal`, `stale_version`.
 */
export async function checkHold(
  boards: Boards,
  hold: Hold,
  requestId: string,
  version?: number,
): Promise<'repeat' | 'current'> {
  try {
    await boards.release(hold, requestId, '', NO_VERSION);
    return 'repeat';
  } catch (error) {
    if (!(error instanceof CrewboardError) || error.code !== 'stale_version') throw error;
    if (version !== undefined && version !== error.extras.current?.version) throw error;
    return 'current';
  }
}
