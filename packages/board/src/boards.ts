import { aboutTasks } from './about-task.ts';
import { artifactRecords } from './artifacts.ts';
import { attemptEnds, attemptReturns, leadEnds } from './attempt-ends.ts';
import { attemptRecords } from './attempts.ts';
import { holderRequests } from './blocks.ts';
import { boardIo } from './board-io.ts';
import { budgets } from './budgets.ts';
import { boardChanges } from './changes.ts';
import { decisions } from './decisions.ts';
import { doctor } from './doctor.ts';
import { eventLog } from './event-log.ts';
import { handOver } from './hand-over.ts';
import { holderCalls, holderNotes } from './holder-calls.ts';
import { jobEdits } from './job-edits.ts';
import { jobIndex } from './job-index.ts';
import { journalStore, noStoredJournals, type ReadStoredJournal } from './journal-store.ts';
import { keyspace } from './keys.ts';
import { messages } from './messages.ts';
import { modelHolds } from './model-holds.ts';
import { plans } from './plans.ts';
import { readers } from './readers.ts';
import { reruns } from './reruns.ts';
import { retention } from './retention.ts';
import { retentionIndex } from './retention-index.ts';
import { reviews } from './reviews.ts';
import type { RedisClient } from './scripts.ts';
import { snapshots } from './snapshot.ts';
import { submitBoard } from './submit-board.ts';
import { taskPages } from './task-pages.ts';
import { walks } from './walk-up.ts';

/**
 * The boards of one Redis below one prefix (a name in braces): every transition, read and hand-over.
 * The connection belongs to the caller. Every call may throw `unavailable` when Redis can't be reached. `readStored`
 * reads journals that have left Redis; without it such a journal is `unavailable`.
 */
export function openBoards(
  redis: RedisClient,
  prefix: string,
  readStored: ReadStoredJournal = noStoredJournals,
) {
  const io = boardIo(redis, keyspace(prefix));
  return {
    ...submitBoard(io),
    ...boardChanges(io),
    ...decisions(io),
    ...jobEdits(io),
    ...reruns(io),
    ...reviews(io),
    ...holderCalls(io),
    ...holderNotes(io),
    ...holderRequests(io),
    ...attemptEnds(io),
    ...attemptReturns(io),
    ...leadEnds(io),
    ...messages(io),
    ...plans(io),
    ...readers(io),
    ...taskPages(io),
    ...walks(io),
    ...snapshots(io),
    ...doctor(io),
    ...attemptRecords(io),
    ...artifactRecords(io),
    ...eventLog(io),
    ...journalStore(io, readStored),
    ...retention(io),
    ...budgets(io),
    ...handOver(io),
    ...modelHolds(io),
    ...aboutTasks(io),
    index: { ...jobIndex(io), ...retentionIndex(io) },
    keys: io.keys,
  };
}

export type Boards = ReturnType<typeof openBoards>;
