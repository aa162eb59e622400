import { type Artifact, StoredJournal } from '@crewboard/contracts';
import { z } from 'zod';
import { ArtifactRow } from './artifacts.ts';
import type { BoardIo } from './board-io.ts';
import { parseReply } from './replies.ts';

const StampReply = z.union([
  z.tuple([z.literal('ok'), z.string(), z.number()]).transform(([, stamp, endedAt]) => ({ stamp, endedAt })),
  z.tuple([z.literal('open')]).transform(() => undefined),
]);
const RemoveReply = z
  .tuple([z.enum(['ok', 'open', 'changed'])])
  .transform(([word]) => (word === 'ok' ? 'removed' : word));
const RecordsReply = z.tuple([
  z.literal('ok'),
  z.string(),
  z.array(z.tuple([ArtifactRow, z.number()])),
  z.number(),
]);
const LeaveReply = z.tuple([z.enum(['ok', 'stays'])]);

const RECORDS_ABOUT = 200;
/** Journals that one command removes. */
const JOURNALS_AT_ONCE = 500;
const ID_LENGTH = 10;

/** A journal as it lies: the record of the part in the store, and the entries in Redis after it. */
export interface JournalParts {
  stored: StoredJournal | undefined;
  /** JSON each. */
  entries: string[];
}

const JournalReply = z.tuple([z.literal('ok'), z.string(), z.array(z.string())]).transform(
  ([, record, entries]): JournalParts => ({
    stored: record === '' ? undefined : StoredJournal.parse(JSON.parse(record)),
    entries,
  }),
);

/** Both parts of a task's journal, of one moment. */
export async function journalParts(io: BoardIo, jobId: string, taskId: string): Promise<JournalParts> {
  return parseReply(await io.run(jobId, 'read_journal', [taskId], taskId), JournalReply);
}

/** How a board leaves Redis, whole or its journals alone, and what of it only its archive needs. */
export function retention(io: BoardIo) {
  const recordOf = (stored: StoredJournal | undefined) =>
    stored === undefined ? '' : JSON.stringify(stored);

  /** Removes the journals that the tasks of a deleted board have left in Redis. */
  async function dropJournals(jobId: string): Promise<void> {
    const lead = await io.guard(() => io.redis.hget(io.keys.board(jobId, 'job'), 'lead'));
    if (lead !== null) await io.guard(() => io.redis.unlink(io.keys.journal(jobId, lead)));
    const width = JOURNALS_AT_ONCE * ID_LENGTH;
    for (let at = 0; ; at += width) {
      const order = await io.guard(() =>
        io.redis.getrange(io.keys.board(jobId, 'order'), at, at + width - 1),
      );
      const ids = order.match(/.{10}/gs) ?? [];
      if (ids.length === 0) return;
      const journals = ids.map((id) => io.keys.journal(jobId, id));
      await io.guard(() => io.redis.unlink(journals));
    }
  }

  return {
    /** What an archive must carry to be this board's, and when the job ended; undefined while it has not. */
    async stampOf(jobId: string): Promise<{ stamp: string; endedAt: number } | undefined> {
      return parseReply(await io.run(jobId, 'read_stamp', []), StampReply);
    },

    /** True while the board is in Redis. */
    async isInRedis(jobId: string): Promise<boolean> {
      return (await io.guard(() => io.redis.exists(io.keys.board(jobId, 'hot')))) === 1;
    },

    /**
     * Takes an archived board out of Redis, when the archive is of its state now and the job ended at least
     * `leastMs` ago. What is not there any more counts as removed.
     */
    async removeArchived(
      jobId: string,
      stamp: string,
      leastMs: number,
    ): Promise<'removed' | 'open' | 'changed'> {
      return parseReply(await io.run(jobId, 'remove_board', ['archived', stamp, leastMs]), RemoveReply);
    },

    /**
     * Takes an ended job's board and journals out of Redis for good. Repeated after a crash it goes on. False, and
     * nothing is gone, when the job has not ended.
     */
    async removeDeleted(jobId: string): Promise<boolean> {
      if (parseReply(await io.run(jobId, 'remove_board', ['deleted']), RemoveReply) !== 'removed')
        return false;
      await dropJournals(jobId);
      const left = (['order', 'job'] as const).map((key) => io.keys.board(jobId, key));
      await io.guard(() => io.redis.unlink(left));
      return true;
    },

    /** Some artifacts from the scan cursor on (`0`: from the start), each with its number under its path, or 0. */
    async artifactRecords(
      jobId: string,
      cursor: string,
    ): Promise<{ next: string; records: { artifact: Artifact; shown: number }[]; last: number }> {
      const reply = await io.run(jobId, 'artifact_records', [cursor, RECORDS_ABOUT]);
      const [, next, rows, last] = parseReply(reply, RecordsReply);
      return { next, records: rows.map(([artifact, shown]) => ({ artifact, shown })), last };
    },

    /** See {@link journalParts}. */
    journalParts: (jobId: string, taskId: string) => journalParts(io, jobId, taskId),

    /**
     * Takes a journal out of Redis whose whole is in the store as `whole`; `parts` are what it was made of. False, and
     * it stays, when the task goes on or the journal is another one by now.
     */
    async leaveJournal(
      jobId: string,
      taskId: string,
      { stored, entries }: JournalParts,
      whole: StoredJournal,
    ): Promise<boolean> {
      const args = [
        taskId,
        entries.length,
        recordOf(stored),
        stored?.sha256 ?? '',
        recordOf(whole),
        whole.sha256,
      ];
      return parseReply(await io.run(jobId, 'leave_journal', args, taskId), LeaveReply)[0] === 'ok';
    },
  };
}
