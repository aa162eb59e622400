import { join } from 'node:path';
import { type Boards, openBoards, type RedisClient } from '@crewboard/board';
import { type ArtifactStore, createFileArtifactStore } from '@crewboard/tools';
import type { ConnectionOptions } from 'bullmq';
import { createArchiveJob } from './archive/archive-job.ts';
import { createFileArchiveStore } from './archive/archive-store.ts';
import { createDeleteJob, type DeleteJob } from './archive/delete-job.ts';
import { orFromArchives } from './archive/fall-through.ts';
import { createRetention } from './archive/retention.ts';
import { createStoreHandOver } from './archive/store-hand-over.ts';
import { createArtifactSweeper } from './artifacts/sweep-artifacts.ts';
import { failureLog } from './connection-log.ts';
import { createDrainer, type Drainer, drainAfter } from './drain.ts';
import { type FactsOf, rememberJobFacts } from './job-facts.ts';
import { createJournalMover, readStoredFrom } from './journals/stored-journals.ts';
import type { Log } from './log.ts';
import { measuredBoards } from './metrics/measured-boards.ts';
import { type Metrics, NO_METRICS } from './metrics/metrics.ts';
import { pausesPublished } from './pause-channel.ts';
import { allQueues, openQueues, type Queues } from './queues.ts';
import type { Settings } from './settings.ts';
import { createSweeper } from './sweeper.ts';

/**
 * What an API and a worker process have in common: boards that hand on what they write and are read from archives when
 * they have left Redis, queues, and the sweepers.
 */
export interface Core {
  boards: Boards;
  queues: Queues;
  drainer: Drainer;
  factsOf: FactsOf;
  artifacts: ArtifactStore;
  deleteJob: DeleteJob;
  /** Ends the sweepers, waits for hand-overs that are under way, closes the queues; connections stay the caller's. */
  close(): Promise<void>;
}

interface CoreDependencies {
  redis: RedisClient;
  queueConnection: ConnectionOptions;
  settings: Settings;
  log: Log;
  /** Where artifacts lie; absent: in the data folder. */
  artifacts?: ArtifactStore;
  /** Absent: nothing is counted. */
  metrics?: Metrics;
}

/** What brings ended jobs and journals into stores, and takes them out of Redis. */
function composeStores(
  { settings, log }: Pick<CoreDependencies, 'settings' | 'log'>,
  boards: Boards,
  artifacts: ArtifactStore,
) {
  const archives = createFileArchiveStore(join(settings.dataDir, 'archive'));
  const moveJournal = createJournalMover({ boards, artifacts });
  const archiveJob = createArchiveJob({ boards, archives, moveJournal });
  const deleteJob = createDeleteJob({ boards, archives, artifacts });
  const { retentionMs } = settings;
  return {
    archives,
    deleteJob,
    intoStores: createStoreHandOver({ boards, archiveJob, moveJournal, log }),
    retention: createRetention({ boards, archives, archiveJob, deleteJob, retentionMs, log }),
  };
}

/** Builds the core over connections that the caller owns, and starts the sweepers. */
export function composeCore({ redis, queueConnection, settings, log, ...rest }: CoreDependencies): Core {
  const { metrics = NO_METRICS } = rest;
  const artifacts = rest.artifacts ?? createFileArtifactStore(join(settings.dataDir, 'artifacts'));
  const readStored = readStoredFrom(artifacts);
  const plain = openBoards(redis, settings.prefix, readStored);
  const factsOf = rememberJobFacts(plain);
  const queues = openQueues(queueConnection, settings.prefix);
  const tell = failureLog(log, 'queue connection');
  for (const queue of allQueues(queues)) queue.on('error', tell);
  const { archives, deleteJob, intoStores, retention } = composeStores({ settings, log }, plain, artifacts);
  const drainer = createDrainer({ boards: plain, queues, factsOf, intoStores, log });
  const ending = new AbortController();
  const sweeping = Promise.all([
    createSweeper({ boards: plain, queues, drainer, factsOf, settings, log, metrics }).run(ending.signal),
    createArtifactSweeper({ boards: plain, artifacts, log }).run(ending.signal),
    retention.run(ending.signal),
  ]);
  const measured = measuredBoards(plain, metrics);
  const handingOn = pausesPublished(drainAfter(measured, drainer), redis, settings.prefix);
  return {
    boards: orFromArchives(handingOn, { archives, readStored }),
    queues,
    drainer,
    factsOf,
    artifacts,
    deleteJob,
    async close() {
      ending.abort();
      await sweeping;
      await drainer.idle();
      await intoStores.close();
      await Promise.all(allQueues(queues).map((queue) => queue.close()));
    },
  };
}
