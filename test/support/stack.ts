import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Boards } from '@crewboard/board';
import { type Client, createClient } from '@crewboard/client';
import type { BoardEvent, Job } from '@crewboard/contracts';
import { boardsOf } from './boards-of.ts';
import { type Answer, type HeldModel, startHeldModel } from './held-model.ts';
import { openTestRedis, type TestRedis } from './redis.ts';
import { openRedisWire, type RedisWire } from './redis-wire.ts';
import { type ServiceProcess, startService } from './service-process.ts';

export type { ServiceProcess } from './service-process.ts';

/** The repository's examples: an allowed workspace of every stack. */
export const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

export const API_KEY = 'cb_process-stack-key-0123456789';
/** How long a job may take to end; on a busy machine a new process alone takes many seconds. */
const JOB_WITHIN_MS = 90_000;

export interface StackOptions {
  /** Environment variables of every process, above the stack's own. */
  variables?: Readonly<Record<string, string>>;
  /** What the model answers; the simulated model by default. */
  answer?: Answer;
  /** A Redis of one's own, which the stack disposes of; the test run's by default. */
  store?: TestRedis;
}

/** A worker of its own process, with its own way to Redis and its own key at the model. */
export interface WorkerProcess extends ServiceProcess {
  wire: RedisWire;
  /** What this worker's requests carry as `authorization`: so they can be told from those of others. */
  authorization: string;
  /** kill -9; resolves when the process is gone and Redis has carried out all that it had sent. */
  kill(): Promise<void>;
}

/**
 * An API and workers as real processes over the run's Redis, below a prefix of their own, and a Messages API in this
 * process that checks and records every request. Disposing kills every process and deletes every key.
 */
export interface Stack extends AsyncDisposable {
  /** Where the API listens. */
  url: string;
  api: ServiceProcess;
  client: Client;
  /** The boards as Redis has them, over a connection of the test's own. */
  boards: Boards;
  store: TestRedis;
  /** The data folder of every process. */
  dataDir: string;
  model: HeldModel;
  startWorker(variables?: Readonly<Record<string, string>>): Promise<WorkerProcess>;
  /** Follows a job to its end; `onEvent` is told of each event. */
  untilEnded(jobId: string, onEvent?: (event: BoardEvent) => void): Promise<Job>;
  /** Resolves with the first event of the job, old or new, that `matches`. */
  untilEvent(jobId: string, matches: (event: BoardEvent) => boolean): Promise<BoardEvent>;
}

function variablesOf(store: TestRedis, model: HeldModel, dataDir: string, workspaces: readonly string[]) {
  return {
    REDIS_URL: store.url,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'model-key-of-the-api',
    CREWBOARD_PREFIX: store.prefix,
    CREWBOARD_API_KEY: API_KEY,
    CREWBOARD_PORT: '0',
    CREWBOARD_DATA_DIR: dataDir,
    CREWBOARD_WORKSPACES: workspaces.join(delimiter),
    CREWBOARD_LEAD_COALESCE_MS: '0',
    // Short, for tests wait for its end; and on a machine so busy that one runs out, no task fails for that.
    CREWBOARD_LEASE_MS: '2000',
    CREWBOARD_INFRA_STRIKES: '20',
  };
}

function follow(client: Client) {
  async function* events(jobId: string) {
    yield* client.jobs.events(jobId, { signal: AbortSignal.timeout(JOB_WITHIN_MS) });
  }
  return {
    async untilEnded(jobId: string, onEvent: (event: BoardEvent) => void = () => {}): Promise<Job> {
      for await (const event of events(jobId)) onEvent(event);
      const job = await client.jobs.get(jobId);
      if (job.endedAt === undefined) throw new Error(`the job did not end in time: ${JSON.stringify(job)}`);
      return job;
    },
    async untilEvent(jobId: string, matches: (event: BoardEvent) => boolean): Promise<BoardEvent> {
      for await (const event of events(jobId)) if (matches(event)) return event;
      throw new Error('no such event came');
    },
  };
}

/** Starts API and model; workers are started by the test. */
export async function openStack(options: StackOptions = {}): Promise<Stack> {
  const store = options.store ?? openTestRedis();
  const folder = await mkdtemp(join(tmpdir(), 'crewboard-test-e2e-'));
  const model = await startHeldModel(options.answer);
  const variables = {
    ...variablesOf(store, model, join(folder, 'data'), [await realpath(EXAMPLES), folder]),
    ...options.variables,
  };
  // Also what is still starting when the stack is closed: nothing may outlive it.
  const opened: Promise<AsyncDisposable>[] = [];
  const keep = <T extends AsyncDisposable>(opening: Promise<T>): Promise<T> => {
    opened.push(opening);
    return opening;
  };
  const close = async () => {
    for (const each of await Promise.allSettled(opened))
      if (each.status === 'fulfilled') await each.value[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
    await store[Symbol.asyncDispose]();
    // Last, because it throws when a request broke a rule.
    await model.stop();
  };
  try {
    const api = await keep(startService('api', variables, folder));
    const url = api.url ?? '';
    const client = createClient({ baseUrl: url, apiKey: API_KEY });
    let workers = 0;
    return {
      url,
      api,
      client,
      boards: boardsOf({ store, dataDir: join(folder, 'data') }),
      store,
      dataDir: join(folder, 'data'),
      model,
      ...follow(client),
      async startWorker(own = {}) {
        const wire = await keep(openRedisWire(store.url));
        const key = `model-key-of-worker-${++workers}`;
        const its = { ...variables, ...own, REDIS_URL: wire.url, ANTHROPIC_API_KEY: key };
        const worker = await keep(startService('worker', its, folder));
        const kill = async () => {
          await worker.kill();
          await wire.over();
        };
        return { ...worker, kill, wire, authorization: `Bearer ${key}` };
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
