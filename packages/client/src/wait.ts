import { type BoardEvent, type EventList, isEnded, type JobResult } from '@crewboard/contracts';
import type { CallOptions } from './call-options.ts';
import type { FollowOptions } from './follow.ts';

/** The calls that waiting is made of. */
interface JobReads {
  listEvents(jobId: string, page: { limit: number }, options: CallOptions): Promise<EventList>;
  result(jobId: string, options: CallOptions): Promise<JobResult>;
  events(jobId: string, options: FollowOptions): AsyncIterable<BoardEvent>;
}

/**
 * Resolves with the job's result once it has ended, at once if it has; one that is opened again meanwhile is waited for
 * again. Rejects with the reason of `signal`, or `unavailable` when the server stays away.
 */
export async function waitForEnd(jobs: JobReads, jobId: string, { signal }: CallOptions): Promise<JobResult> {
  for (;;) {
    // First where the log stands, then the state: an end that comes between the two is still ahead of the stream.
    const { asOf } = await jobs.listEvents(jobId, { limit: 1 }, { signal });
    const result = await jobs.result(jobId, { signal });
    if (isEnded(result.status)) return result;
    for await (const _ of jobs.events(jobId, { after: asOf, signal, onResync: () => {} })) {
      // Only the end matters.
    }
    signal?.throwIfAborted();
  }
}
