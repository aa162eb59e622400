import { text } from 'node:stream/consumers';
import type { Boards, ReadStoredJournal } from '@crewboard/board';
import type { StoredJournal } from '@crewboard/contracts';
import type { ArtifactStore } from '@crewboard/tools';
import { isMissing } from '../missing.ts';

/** Reads journals that have left Redis for `artifacts`. */
export function readStoredFrom(artifacts: ArtifactStore): ReadStoredJournal {
  return async (jobId, sha256) => text(await artifacts.read(jobId, sha256));
}

interface JournalPlaces {
  boards: Pick<Boards, 'journalParts' | 'leaveJournal' | 'index'>;
  artifacts: ArtifactStore;
}

/** Moves a task's journal into the store, if some of it is in Redis; answers where the whole of it lies then. */
export type MoveJournal = (
  jobId: string,
  taskId: string,
  signal: AbortSignal,
) => Promise<StoredJournal | undefined>;

/**
 * Makes the one way of a journal out of Redis: the whole of it is put into the store, then the board's record says so
 * and the list in Redis goes, in one step that is refused when the task goes on or the journal has changed. A crash
 * between the two leaves a content that nobody wants, for the sweep of artifacts. Repeated it changes nothing. A job
 * that is deleted beside it leaves nothing either: whichever of the two is later removes the content.
 */
export function createJournalMover({ boards, artifacts }: JournalPlaces): MoveJournal {
  const readStored = readStoredFrom(artifacts);
  return async (jobId, taskId, signal) => {
    const parts = await boards.journalParts(jobId, taskId);
    const { stored, entries } = parts;
    if (entries.length === 0) return stored;
    const before = stored === undefined ? '' : await readStored(jobId, stored.sha256);
    const whole = Buffer.from(before + entries.map((entry) => `${entry}\n`).join(''));
    const content = await artifacts.put(jobId, whole, signal);
    const record = { v: 1, ...content, entries: (stored?.entries ?? 0) + entries.length } as const;
    const hasLeft = await boards.leaveJournal(jobId, taskId, parts, record).catch(async (error: unknown) => {
      if (isMissing(error) && (await boards.index.wasDeleted(jobId))) await artifacts.removeJob(jobId);
      throw error;
    });
    if (!hasLeft) return undefined;
    // A sweep between the two could not know that a record was about to come.
    if (!(await artifacts.has(jobId, content))) await artifacts.put(jobId, whole, signal);
    return record;
  };
}
