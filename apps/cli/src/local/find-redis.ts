import { join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import type { Config } from '../config.ts';
import { dataFolder, readState, runningServer } from './data-folder.ts';
import { localUrl, RedisState } from './redis-state.ts';

/**
 * Returns the URL of the Redis to work on, password included: REDIS_URL, else the one of the `crewboard up` that runs on
 * the data folder or ran there last; an embedded one is there only while that runs. Throws `invalid_argument` when
 * there is none.
 */
export async function findRedis({ environment, dataDir }: Config): Promise<string> {
  if (environment.REDIS_URL !== undefined) return environment.REDIS_URL;
  const folder = dataFolder(dataDir);
  const embeddedUrl = (await runningServer(folder))?.embeddedRedisUrl;
  if (embeddedUrl !== undefined) return embeddedUrl;
  const state = await readState(join(folder.redis, 'redis.json'), RedisState);
  if (state !== undefined) return localUrl(state.port, state.password);
  throw new CrewboardError(
    'invalid_argument',
    `REDIS_URL is not set and ${folder.root} keeps no Redis: run this where \`crewboard up\` keeps its data, or set REDIS_URL`,
  );
}
