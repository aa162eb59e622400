import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Boards } from '@crewboard/board';
import { boardsOf } from './boards-of.ts';
import { openTestRedis, type TestRedis } from './redis.ts';
import { openRedisWire, type RedisWire } from './redis-wire.ts';
import { type ServiceProcess, startService } from './service-process.ts';

export const API_KEY = 'cb_api-processes-key-0123456789';
export const AS_ADMIN = { authorization: `Bearer ${API_KEY}` };

/** An API of its own process, with its own way to Redis. */
export interface ApiProcess extends ServiceProcess {
  readonly url: string;
  wire: RedisWire;
}

/** API processes one after the other or beside each other, over the run's Redis and one data folder; no worker. */
export interface ApiProcesses extends AsyncDisposable {
  store: TestRedis;
  /** The boards as Redis has them, over a connection of the test's own. */
  boards: Boards;
  start(): Promise<ApiProcess>;
}

/** Opens the place for API processes; disposing kills them and deletes every key and file. */
export async function openApiProcesses(store: TestRedis = openTestRedis()): Promise<ApiProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'crewboard-test-apis-'));
  const dataDir = join(folder, 'data');
  const opened: Promise<AsyncDisposable>[] = [];
  const keep = <T extends AsyncDisposable>(opening: Promise<T>): Promise<T> => {
    opened.push(opening);
    return opening;
  };
  return {
    store,
    boards: boardsOf({ store, dataDir }),
    async start() {
      const wire = await keep(openRedisWire(store.url));
      const variables = {
        REDIS_URL: wire.url,
        CREWBOARD_PREFIX: store.prefix,
        CREWBOARD_API_KEY: API_KEY,
        CREWBOARD_PORT: '0',
        CREWBOARD_DATA_DIR: dataDir,
      };
      const api = await keep(startService('api', variables, folder));
      if (api.url === undefined) throw new Error('the API does not say where it listens');
      return { ...api, url: api.url, wire };
    },
    async [Symbol.asyncDispose]() {
      for (const each of (await Promise.allSettled(opened)).reverse())
        if (each.status === 'fulfilled') await each.value[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
      await store[Symbol.asyncDispose]();
    },
  };
}
