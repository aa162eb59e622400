import { join } from 'node:path';
import { type Boards, openBoards } from '@crewboard/board';
import { readStoredFrom } from '@crewboard/orchestrator';
import { createFileArtifactStore } from '@crewboard/tools';
import type { TestRedis } from './redis.ts';

/** The boards of a stack as Redis has them, with the journals that lie in its data folder. */
export function boardsOf({
  store,
  dataDir,
}: {
  store: Pick<TestRedis, 'redis' | 'prefix'>;
  dataDir: string;
}): Boards {
  const artifacts = createFileArtifactStore(join(dataDir, 'artifacts'));
  return openBoards(store.redis, store.prefix, readStoredFrom(artifacts));
}
