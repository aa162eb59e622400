/**
 * A process that takes one job out of Redis and dies by SIGKILL on the way, where it is told to.
 * Arguments: Redis URL, prefix, data folder, job ID, `write` | `removal`.
 */
import { join } from 'node:path';
import { openBoards } from '@crewboard/board';
import type { ArchiveLine } from '@crewboard/contracts';
import {
  createArchiveJob,
  createDeleteJob,
  createFileArchiveStore,
  createJournalMover,
  createRetention,
  readStoredFrom,
} from '@crewboard/orchestrator';
import { createFileArtifactStore } from '@crewboard/tools';
import { Redis } from 'ioredis';

const [url = '', prefix = '', folder = '', jobId = '', place] = process.argv.slice(2);
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

async function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  // Until the signal is there.
  return new Promise(() => {});
}

async function* dyingHalfWay(lines: AsyncIterable<ArchiveLine>): AsyncGenerator<ArchiveLine> {
  for await (const line of lines) {
    if (line.kind === 'event') await die();
    yield line;
  }
}

const artifacts = createFileArtifactStore(join(folder, 'artifacts'));
const archives = createFileArchiveStore(join(folder, 'archive'));
const boards = openBoards(new Redis(url), prefix, readStoredFrom(artifacts));
const { write } = archives;
if (place === 'write') archives.write = (id, lines) => write(id, dyingHalfWay(lines));
if (place === 'removal') boards.removeArchived = die;
const moveJournal = createJournalMover({ boards, artifacts });
const archiveJob = createArchiveJob({ boards, archives, moveJournal });
const deleteJob = createDeleteJob({ boards, archives, artifacts });
const retention = createRetention({ boards, archives, archiveJob, deleteJob, retentionMs: 0, log: SILENT });
await retention.removeJob(jobId, new AbortController().signal);
