export { resolveCommandsMode } from '@crewboard/tools';
export { type ArchiveJob, createArchiveJob } from './archive/archive-job.ts';
export { type ArchiveStore, createFileArchiveStore } from './archive/archive-store.ts';
export { createDeleteJob, type DeleteJob } from './archive/delete-job.ts';
export { orFromArchives } from './archive/fall-through.ts';
export { createRetention } from './archive/retention.ts';
export { createArtifactSweeper } from './artifacts/sweep-artifacts.ts';
export { awaitRedis } from './await-redis.ts';
export { followCancels } from './cancel-channel.ts';
export { checkFolders } from './check-folders.ts';
export { logConnection } from './connection-log.ts';
export { type Core, composeCore } from './core.ts';
export { createLogger, type LoggerOptions, logDefects } from './create-logger.ts';
export { createService, type ServiceDependencies } from './create-service.ts';
export { watchDataFolder } from './data-folder.ts';
export type { DeliverDependencies } from './deliver.ts';
export { createDrainer, type Drainer, drainAfter } from './drain.ts';
export { createEventHub, EVENTS_BLOCK_MS, type EventHub } from './event-hub.ts';
export { createJournalMover, readStoredFrom } from './journals/stored-journals.ts';
export { ENVIRONMENT_KEY } from './keys/key-service.ts';
export { createKeyStore, type KeyRecord, type KeyStore } from './keys/key-store.ts';
export { digestOf, keyIdOf, newKeyText } from './keys/key-text.ts';
export type { Log } from './log.ts';
export { publishMetrics } from './metrics/exchange.ts';
export { measuredCalls } from './metrics/measured-calls.ts';
export { type Metrics, NO_METRICS } from './metrics/metrics.ts';
export { createProcessMetrics, type ProcessMetrics } from './metrics/process-metrics.ts';
export { createScrape, type Scrape, scrapeOwn } from './metrics/scrape.ts';
export { followPauses } from './pause-channel.ts';
export { readPriceFile } from './prices.ts';
export { createGovernor, type Governor } from './provider/governor.ts';
export { allQueues, type Queues } from './queues.ts';
export { REDIS_OPTIONS } from './redis-options.ts';
export { modelCalls } from './run-agent-for.ts';
export type {
  ArtifactCalls,
  ClaimCalls,
  DeletionCalls,
  FollowItem,
  HolderCalls,
  JobCalls,
  KeyCalls,
  OpenArtifact,
  PersonCalls,
  Scope,
  Service,
  SteerCalls,
  TaskDecision,
} from './service.ts';
export { type Provider, providersOf, type Settings, settingsFrom } from './settings.ts';
export { warnAtStart } from './start-warnings.ts';
export { type ConnectionWatch, type WatchedConnection, watchConnections } from './watch-connections.ts';
export { createJobTools, type WorkTools } from './work-tools.ts';
export { announceWorker, isAnnounced, workerName } from './worker-registry.ts';
export { servedQueues, startQueueWorkers } from './workers.ts';
