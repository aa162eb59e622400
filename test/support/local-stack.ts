import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { composeApi, createLogger, type RunningApi, startApi } from '@crewboard/api';
import { type Client, createClient } from '@crewboard/client';
import { type Environment, type Job, type JobBody, parseEnvironment } from '@crewboard/contracts';
import { readPriceFile, resolveCommandsMode, settingsFrom } from '@crewboard/orchestrator';
import { startWorker } from '@crewboard/worker';
import { Redis } from 'ioredis';
import { startSimulatedModel } from '../../packages/simulated-model/src/index.ts';
import { openTestRedis, type TestRedis } from './redis.ts';

export const API_KEY = 'cb_local-stack-key-0123456789';
export const AS_ADMIN = { authorization: `Bearer ${API_KEY}` };
/** The repository's examples: an allowed workspace of every stack. */
export const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

export interface LocalStackOptions {
  /** Other folders that jobs may work in. */
  workspaces?: readonly string[];
  /** A provider's Messages API; absent: a simulated model of the stack's own. */
  provider?: { url: string; key: string };
  /** `false`: nothing takes tasks from the queues. */
  worker?: boolean;
  /** Environment variables above the stack's own. */
  variables?: Readonly<Record<string, string>>;
  /** And above those, of the worker alone. */
  workerVariables?: Readonly<Record<string, string>>;
}

export interface Answer {
  status: number;
  type: string;
  text: string;
  /** The body as JSON; undefined when it is none. */
  json: unknown;
}

/** API, worker and model in this process, over the run's Redis below a prefix of its own; real HTTP between all. */
export interface LocalStack extends AsyncDisposable {
  readonly url: string;
  readonly client: Client;
  store: TestRedis;
  /** The data folder of API and worker. */
  dataDir: string;
  /** All that API and worker have logged. */
  logged(): string;
  /** Sends one request with the admin key; a body that is no text goes as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Ends the API and starts another one, on another port. */
  restartApi(): Promise<void>;
  /** Submits and follows to the end. */
  run(body: JobBody): Promise<Job>;
  /** Every key and value below the prefix, and every file of the data folder, as one text. */
  dump(): Promise<string>;
  /** Every key below the prefix, sorted. */
  keys(): Promise<string[]>;
}

type Step = () => Promise<unknown>;

/** The texts of all files below a folder, without those that are just being written. */
async function textsBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.tmp'));
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')));
}

function logSink() {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => lines.join('') };
}

async function startTestWorker(environment: Environment, log: Writable): Promise<Step> {
  const connect = () => new Redis(environment.REDIS_URL ?? '', { maxRetriesPerRequest: null });
  const connections = { boards: connect(), queues: connect(), subscriber: connect() };
  const logger = createLogger('debug', log);
  const commands = await resolveCommandsMode(environment.CREWBOARD_COMMANDS);
  const prices = readPriceFile(environment, process.cwd());
  const settings = settingsFrom(environment, process.cwd(), commands, prices);
  const worker = await startWorker(settings, connections, logger);
  return async () => {
    await worker.stop();
    for (const connection of Object.values(connections)) connection.disconnect();
  };
}

async function environmentOf(
  options: LocalStackOptions,
  store: TestRedis,
  modelUrl: string,
  dataDir: string,
  own: Readonly<Record<string, string>> = {},
) {
  const roots = await Promise.all([EXAMPLES, ...(options.workspaces ?? [])].map((path) => realpath(path)));
  const model =
    options.provider === undefined
      ? { CREWBOARD_SIMULATED_MODEL_URL: modelUrl }
      : { ANTHROPIC_BASE_URL: options.provider.url, ANTHROPIC_API_KEY: options.provider.key };
  return parseEnvironment({
    REDIS_URL: store.url,
    CREWBOARD_PREFIX: store.prefix,
    CREWBOARD_DATA_DIR: dataDir,
    CREWBOARD_API_KEY: API_KEY,
    CREWBOARD_PORT: '0',
    CREWBOARD_LEAD_COALESCE_MS: '0',
    CREWBOARD_WORKSPACES: roots.join(':'),
    ...model,
    ...options.variables,
    ...own,
  });
}

async function keysOf({ redis, prefix }: TestRedis): Promise<string[]> {
  const name = prefix.slice(1, -1);
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `*${name}*`, 'COUNT', 1000);
    found.push(...keys);
    cursor = next;
  } while (cursor !== '0');
  return [...new Set(found)].sort();
}

async function contentOf({ redis }: TestRedis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, '0', '-1');
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return undefined;
  }
}

/** Every key below the prefix with its value, as one text. */
export async function redisText(store: TestRedis): Promise<string> {
  const keys = await keysOf(store);
  return JSON.stringify(await Promise.all(keys.map(async (key) => [key, await contentOf(store, key)])));
}

async function send(url: string, ...[method, path, body, headers = {}]: Parameters<LocalStack['call']>) {
  const isText = typeof body === 'string';
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...AS_ADMIN,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  return { status: answer.status, type, text, json: /\bjson\b/.test(type) ? JSON.parse(text) : undefined };
}

/** Starts a stack; disposing ends it and deletes every key that it made. */
export async function openLocalStack(options: LocalStackOptions = {}): Promise<LocalStack> {
  const store = openTestRedis();
  const log = logSink();
  const model = options.provider === undefined ? await startSimulatedModel() : undefined;
  const dataDir = await mkdtemp(join(tmpdir(), 'crewboard-stack-'));
  const environment = await environmentOf(options, store, model?.url ?? '', dataDir);
  const start = () =>
    startApi({ config: environment, compose: composeApi, logger: createLogger('debug', log.stream) });
  let api: RunningApi = await start();
  const stopWorker =
    options.worker === false
      ? async () => {}
      : await startTestWorker(
          await environmentOf(options, store, model?.url ?? '', dataDir, options.workerVariables),
          log.stream,
        );
  const clientOf = () => createClient({ baseUrl: api.url, apiKey: API_KEY });
  let client = clientOf();
  return {
    store,
    dataDir,
    get url() {
      return api.url;
    },
    get client() {
      return client;
    },
    logged: log.text,
    call: (...request) => send(api.url, ...request),
    async restartApi() {
      await api.close();
      api = await start();
      client = clientOf();
    },
    async run(body) {
      const { id } = await client.jobs.submit(body);
      for await (const _ of client.jobs.events(id)) {
        // Followed for its end alone.
      }
      return client.jobs.get(id);
    },
    keys: () => keysOf(store),
    async dump() {
      return JSON.stringify([await redisText(store), await textsBelow(dataDir)]);
    },
    async [Symbol.asyncDispose]() {
      await stopWorker();
      await api.close();
      await model?.stop();
      await store[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
