import { join } from 'node:path';
import { type Boards, openBoards, type RedisClient } from '@crewboard/board';
import { type ArtifactStore, createFileArtifactStore } from '@crewboard/tools';
import type { ConnectionOptions } from 'bullmq';
import { createArtifactSweeper } from './artifacts/sweep-artifacts.ts';
import { createDrainer, type Drainer, drainAfter } from './drain.ts';
import { type FactsOf, rememberJobFacts } from './job-facts.ts';
import type { Log } from './log.ts';
import { pausesPublished } from './pause-channel.ts';
import { allQueues, openQueues, type Queues } from './queues.ts';
import type { Settings } from './settings.ts';
import { createSweeper } from './sweeper.ts';

/** What an API and a worker process have in common: boards that hand on what they write, queues, and the sweeper. */
export interface Core {
  boards: Boards;
  queues: Queues;
  drainer: Drainer;
  factsOf: FactsOf;
  artifacts: ArtifactStore;
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
}

/** Builds the core over connections that the caller owns, and starts the sweepers. */
export function composeCore({ redis, queueConnection, settings, log, ...rest }: CoreDependencies): Core {
  const artifacts = rest.artifacts ?? createFileArtifactStore(join(settings.dataDir, 'artifacts'));
  const plain = openBoards(redis, settings.prefix);
  const factsOf = rememberJobFacts(plain);
  const queues = openQueues(queueConnection, settings.prefix);
  for (const queue of allQueues(queues))
    queue.on('error', (error) => log.warn({ err: error.message }, 'queue connection'));
  const drainer = createDrainer({ boards: plain, queues, factsOf, log });
  const ending = new AbortController();
  const sweeping = Promise.all([
    createSweeper({ boards: plain, queues, drainer, factsOf, settings, log }).run(ending.signal),
    createArtifactSweeper({ boards: plain, artifacts, log }).run(ending.signal),
  ]);
  return {
    boards: pausesPublished(drainAfter(plain, drainer), redis, settings.prefix),
    queues,
    drainer,
    factsOf,
    artifacts,
    async close() {
      ending.abort();
      await sweeping;
      await drainer.idle();
      await Promise.all(allQueues(queues).map((queue) => queue.close()));
    },
  };
}
