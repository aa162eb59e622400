import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Boards, Claimed, Hold, ReadStoredJournal } from '@crewboard/board';
import type { NewJournalEntry } from '@crewboard/contracts';
import {
  type ArchiveJob,
  type ArchiveStore,
  createArchiveJob,
  createDeleteJob,
  createFileArchiveStore,
  createJournalMover,
  createRetention,
  type DeleteJob,
  orFromArchives,
  readStoredFrom,
} from '@crewboard/orchestrator';
import { type ArtifactStore, createFileArtifactStore } from '@crewboard/tools';
import { type BoardFixture, openBoardFixture } from './board.ts';

export const NEVER: AbortSignal = new AbortController().signal;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, modelCalls: 1 };

/** Boards with their stores, and what moves jobs between them; nothing does so by itself. */
export interface RetentionRig extends AsyncDisposable {
  /** In Redis alone. */
  board: BoardFixture;
  /** The same, read from archives where they have left Redis. */
  boards: Boards;
  artifacts: ArtifactStore;
  archives: ArchiveStore;
  /** The data folder of both. */
  folder: string;
  /** The file of a job's archive. */
  archivePath(jobId: string): string;
  moveJournal: ReturnType<typeof createJournalMover>;
  archiveJob: ArchiveJob;
  deleteJob: DeleteJob;
  /** The sweeper of ended jobs. */
  retentionOf(retentionMs: number, boards?: Boards): ReturnType<typeof createRetention>;
  /** Every key of the job in Redis. */
  keysOf(jobId: string): Promise<string[]>;
  /** Names in the folder of a job's contents. */
  contentsOf(jobId: string): Promise<string[]>;
}

/** `openBoard`: opens the boards; absent: on the run's Redis. */
export async function openRetentionRig(
  openBoard: (readStored: ReadStoredJournal) => Promise<BoardFixture> = openBoardFixture,
): Promise<RetentionRig> {
  const folder = await mkdtemp(join(tmpdir(), 'crewboard-retention-'));
  const artifacts = createFileArtifactStore(join(folder, 'artifacts'));
  const archives = createFileArchiveStore(join(folder, 'archive'));
  const readStored = readStoredFrom(artifacts);
  const board = await openBoard(readStored);
  const plain = board.boards;
  const moveJournal = createJournalMover({ boards: plain, artifacts });
  const archiveJob = createArchiveJob({ boards: plain, archives, moveJournal });
  const deleteJob = createDeleteJob({ boards: plain, archives, artifacts });
  return {
    board,
    boards: orFromArchives(plain, { archives, readStored }),
    artifacts,
    archives,
    folder,
    archivePath: (jobId) => join(folder, 'archive', `${jobId}.jsonl`),
    moveJournal,
    archiveJob,
    deleteJob,
    retentionOf: (retentionMs, boards = plain) =>
      createRetention({ boards, archives, archiveJob, deleteJob, retentionMs, log: SILENT }),
    keysOf: async (jobId) => (await board.store.redis.keys(`*${jobId}*`)).sort(),
    contentsOf: (jobId) => readdir(join(folder, 'artifacts', jobId)).catch(() => []),
    async [Symbol.asyncDispose]() {
      await board[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const message = (text: string): NewJournalEntry => ({ kind: 'message', texts: [text] });
export const reply = (text: string): NewJournalEntry => ({
  kind: 'reply',
  messageId: 'msg_1',
  model: 'claude-sonnet-5-5',
  content: [{ type: 'text', text }],
  stopReason: 'end_turn',
  usage: NO_USAGE,
});

/** Writes a conversation into the journal of a claim. */
export async function converse(
  boards: Boards,
  { hold, task }: Claimed & { hold: Hold },
  ...entries: NewJournalEntry[]
): Promise<void> {
  const journal = await boards.openJournal(hold, { attempt: task.attempt });
  for (const entry of entries) await journal.append(entry);
}
