import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Boards } from '@crewboard/board';
import { type Client, createClient } from '@crewboard/client';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { boardsOf } from '../support/boards-of.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { freePort } from '../support/redis-server.ts';
import { type ServiceProcess, startService } from '../support/service-process.ts';
import type { ProcessName } from './schedule.ts';

const PREFIX = '{chaos}';
const API_KEY = 'cb_chaos-stack-key-0123456789ab';

/** A whole Crewboard with a Redis of its own, every part of which may be killed and started again. */
export interface ChaosStack extends AsyncDisposable {
  redis: RedisProcess;
  /** For what is asked of Redis from here. */
  connection: Redis;
  boards: Boards;
  client: Client;
  /** The queues that jobs with a model go through. */
  queues: Queue[];
  /** Where agents work. */
  workspace: string;
  process(name: ProcessName): ServiceProcess;
  /** Starts the process again once the one before is gone. */
  restart(name: ProcessName): Promise<void>;
}

function variablesOf(redisUrl: string, modelUrl: string, port: number, folder: string, workspace: string) {
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    REDIS_URL: redisUrl,
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'model-key',
    CREWBOARD_PREFIX: PREFIX,
    CREWBOARD_API_KEY: API_KEY,
    CREWBOARD_PORT: String(port),
    CREWBOARD_DATA_DIR: join(folder, 'data'),
    CREWBOARD_WORKSPACES: workspace,
    CREWBOARD_COMMANDS: 'host',
    // Times are short, so that a seed takes seconds; each is longer than what it bounds takes.
    CREWBOARD_LEASE_MS: '1500',
    CREWBOARD_INFRA_STRIKES: '8',
    CREWBOARD_MODEL_TRIES: '3',
    CREWBOARD_MODEL_RETRY_MS: '3000',
    CREWBOARD_MODEL_IDLE_MS: '800',
    CREWBOARD_PARK_MS: '200',
    CREWBOARD_LEAD_COALESCE_MS: '50',
    CREWBOARD_LOG_LEVEL: 'warn',
  };
}

/** Starts Redis, API and two workers over the model at `modelUrl`. */
export async function openChaosStack(modelUrl: string): Promise<ChaosStack> {
  const folder = await mkdtemp(join(tmpdir(), 'crewboard-chaos-'));
  const workspace = join(await realpath(folder), 'workspace');
  await mkdir(workspace);
  const redis = await startRedisProcess(['--appendonly', 'yes', '--appendfsync', 'everysec']);
  const port = await freePort();
  const variables = variablesOf(redis.url, modelUrl, port, folder, workspace);
  const start = (name: ProcessName) => startService(name === 'api' ? 'api' : 'worker', variables, folder);
  const processes = new Map<ProcessName, ServiceProcess>();
  for (const name of ['api', 'worker 1', 'worker 2'] satisfies ProcessName[]) {
    processes.set(name, await start(name));
  }
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  connection.on('error', () => {});
  const queues = ['crewboard.lead', 'crewboard.tasks'].map(
    (name) => new Queue(name, { connection, prefix: PREFIX }),
  );
  for (const queue of queues) queue.on('error', () => {});
  const processOf = (name: ProcessName): ServiceProcess => {
    const found = processes.get(name);
    if (found === undefined) throw new Error(`no process ${name}`);
    return found;
  };
  return {
    redis,
    connection,
    boards: boardsOf({ store: { redis: connection, prefix: PREFIX }, dataDir: join(folder, 'data') }),
    client: createClient({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: API_KEY,
      timeoutMs: 5000,
      reconnect: { tries: 100, baseMs: 50, maxMs: 500 },
    }),
    queues,
    workspace,
    process: processOf,
    async restart(name) {
      await processOf(name).ended;
      processes.set(name, await start(name));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...processes.values()].map((each) => each.kill()));
      await Promise.all(queues.map((queue) => queue.close()));
      connection.disconnect();
      await redis[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
