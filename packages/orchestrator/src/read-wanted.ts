import type { Boards } from '@crewboard/board';
import { type BoardEvent, type EventFilter, isWanted } from '@crewboard/contracts';

/** Events that one read with a filter looks at, in pages. */
const LOOKED_AT_MOST = 2000;
const PAGE = 500;

/**
 * The wanted events of a log after `after`, at most `limit`, oldest first. `last`: the last event that was looked at
 * when more may follow, wanted or not; undefined at the end of the log.
 */
export async function readWanted(
  boards: Pick<Boards, 'events'>,
  jobId: string,
  after: string,
  { filter, limit }: { filter: EventFilter; limit: number },
): Promise<{ events: BoardEvent[]; last: string | undefined }> {
  const isFiltered = filter.types !== undefined || filter.taskId !== undefined;
  const page = isFiltered ? PAGE : limit;
  const events: BoardEvent[] = [];
  let last = after;
  for (let lookedAt = 0; lookedAt < LOOKED_AT_MOST; ) {
    const read = await boards.events(jobId, last, page);
    for (const event of read) {
      last = event.id;
      if (isWanted(event, filter)) events.push(event);
      if (events.length === limit) return { events, last };
    }
    if (read.length < page) return { events, last: undefined };
    lookedAt += read.length;
  }
  return { events, last };
}
