import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@crewboard/client';
import { type Job, newSecret } from '@crewboard/contracts';
import type { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { openOwnRedis } from '../support/own-redis.ts';
import { hasRedisServer } from '../support/redis-process.ts';
import {
  httpError,
  lastResults,
  type MessagesRequest,
  reply,
  type ScriptedApi,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { type ServiceProcess, startService } from '../support/service-process.ts';
import { HAS_BUBBLEWRAP } from '../tools/commands/support.ts';
import { ownTask, repliesIn, titleOf } from './support.ts';

/** What nobody may find anywhere but where it was put. */
const canary = (name: string) => `canary-${name}-${newSecret()}/+`;

interface Canaries {
  modelKey: string;
  apiKey: string;
  redisPassword: string;
  /** Of another program, in the environment of the workers. */
  unrelated: string;
  /** In the key file of the data folder. */
  keyFile: string;
  /** In `.env` of the workspace. */
  dotEnv: string;
}

/** The forms in which a secret may turn up; in base64 by the characters that it alone decides. */
function formsOf(secret: string): string[] {
  const inBase64 = [0, 1, 2].map((before) => {
    const whole = Buffer.from('x'.repeat(before) + secret).toString('base64');
    return whole.slice(4, -8);
  });
  return [
    secret,
    encodeURIComponent(secret),
    ...inBase64,
    ...inBase64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
    Buffer.from(secret).toString('hex'),
  ];
}

/** Where of all `places` which of the secrets stands. */
function findSecrets(places: ReadonlyMap<string, string>, secrets: readonly string[]): string[] {
  return [...places].flatMap(([place, content]) =>
    secrets
      .filter((secret) => formsOf(secret).some((form) => content.includes(form)))
      .map((secret) => `${secret} in ${place}`),
  );
}

/** Every key of the server, of whatever type, with all of its content. */
async function allOfRedis(redis: Redis): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const key of await redis.keys('*')) {
    const type = await redis.type(key);
    const readers: Record<string, () => Promise<unknown>> = {
      string: () => redis.get(key),
      hash: () => redis.hgetall(key),
      list: () => redis.lrange(key, 0, '-1'),
      set: () => redis.smembers(key),
      zset: () => redis.zrange(key, 0, '-1'),
      stream: () => redis.xrange(key, '-', '+'),
    };
    // Gone meanwhile.
    if (type === 'none') continue;
    const read = readers[type];
    if (read === undefined) throw new Error(`${key} is a ${type}: the scan does not read those`);
    found.set(`redis ${key}`, `${key} ${JSON.stringify(await read())}`);
  }
  return found;
}

async function allFiles(folder: string, without: readonly string[]): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !without.includes(path));
  return new Map(
    await Promise.all(paths.map(async (path) => [`file ${path}`, await readFile(path, 'latin1')] as const)),
  );
}

/** What an agent tries, one call a turn; it then writes down all that it was answered. */
const TRIES = (dataDir: string) => [
  toolUse('run_command', {
    command: 'env; cat /proc/*/environ /proc/self/environ 2>&1; echo; env | base64; echo tried',
  }),
  toolUse('run_command', { command: `cat .env ${dataDir}/api-key ${dataDir}/* ~/.npmrc; ls -la /proc/*/fd` }),
  toolUse('run_command', { command: 'cat /proc/[0-9]*/environ | base64 -w0; cat /proc/[0-9]*/cmdline' }),
  toolUse('read_file', { path: '.env' }),
  toolUse('read_file', { path: `${dataDir}/api-key` }),
  toolUse('search_files', { pattern: 'canary' }),
];

function got(request: MessagesRequest): string {
  const results = request.messages.flatMap((message) => lastResults({ ...request, messages: [message] }));
  return results.map((result) => result.text).join('\n');
}

/** Puts what it got into everything that an agent may write. */
function tell(request: MessagesRequest, step: number) {
  const taskId = ownTask(request);
  // What other processes of the machine have in their environment may be cut inside a character, which is refused.
  const all = got(request).replaceAll(/[^\x20-\x7e\n]+/g, ' ');
  const short = all.replaceAll(/\s+/g, ' ').slice(0, 1500);
  const steps = [
    [toolUse('board_note', { taskId, text: short })],
    [toolUse('write_artifact', { path: 'got.txt', content: all })],
    [
      toolUse('todo_write', {
        todos: [{ content: short.slice(0, 400), activeForm: 'telling', status: 'in_progress' }],
      }),
    ],
    titleOf(request) === 'Blocks'
      ? [toolUse('board_block', { taskId, kind: 'needs_input', reason: short })]
      : [
          toolUse('board_submit', {
            taskId,
            summary: short,
            output: { all: all.slice(0, 20_000) },
            evidence: [{ kind: 'statement', text: short }],
          }),
        ],
  ];
  return reply(steps[step] ?? [text('nothing is left to tell')]);
}

function startEvilModel(secrets: Canaries, dataDir: string): Promise<ScriptedApi> {
  const echoed = new Set<string>();
  const tries = TRIES(dataDir);
  return startScriptedApi((request) => {
    const title = titleOf(request);
    // As a proxy might: the refusal repeats what came with the request, the key in three forms.
    if (!echoed.has(title)) {
      echoed.add(title);
      const { modelKey } = secrets;
      const headers = `authorization: Bearer ${modelKey} x-api-key=${encodeURIComponent(modelKey)} basic ${Buffer.from(`u:${modelKey}`).toString('base64')}`;
      return httpError(500, 'api_error', { 'x-echo': modelKey }, `upstream failed for {${headers}}`);
    }
    const turn = repliesIn(request);
    const next = tries[turn];
    return next === undefined
      ? tell(request, turn - tries.length)
      : reply([{ ...next, id: `${next.id}_${newSecret()}` }]);
  });
}

interface Answered {
  path: string;
  status: number;
  body: string;
}

async function ask(url: string, apiKey: string, path: string, init: RequestInit = {}): Promise<Answered> {
  const headers = { authorization: `Bearer ${apiKey}`, ...Object.fromEntries(new Headers(init.headers)) };
  const signal = AbortSignal.timeout(10_000);
  const answer = await fetch(`${url}${path}`, { ...init, headers, signal });
  return {
    path,
    status: answer.status,
    body: `${JSON.stringify([...answer.headers])} ${await answer.text()}`,
  };
}

/** Asks for everything that the API tells of the job, and for errors of every kind. */
async function allAnswers(url: string, apiKey: string, client: Client, { id }: Job): Promise<Answered[]> {
  const { tasks } = await client.tasks.list(id);
  const json = { 'content-type': 'application/json' };
  const paths = [
    ...['/metrics', '/readyz', '/healthz', '/v1/jobs', '/v1/keys', '/v1/none', '/%zz'],
    ...['/admin/queues/api/queues', '/admin/queues', '/admin/queues/api/redis/stats'],
    ...['', '/result', '/results.jsonl', '/artifacts', '/artifacts/got.txt', '/tasks?limit=100'].map(
      (path) => `/v1/jobs/${id}${path}`,
    ),
    ...tasks.flatMap((task) =>
      ['', '/attempts', '/why', '/transcript'].map((path) => `/v1/jobs/${id}/tasks/${task.id}${path}`),
    ),
  ];
  return Promise.all([
    ...paths.map((path) => ask(url, apiKey, path)),
    ask(url, apiKey, `/v1/jobs/${id}/events?limit=100`, { headers: { accept: 'application/json' } }),
    ask(url, apiKey, '/v1/jobs', { method: 'POST', headers: json, body: '{"tasks": [{"titl' }),
    ask(url, apiKey, '/v1/jobs', { method: 'POST', headers: json, body: '{"tasks": 7, "env": true}' }),
    ask(url, apiKey, '/v1/jobs', { method: 'PUT', headers: json, body: '{}' }),
    ask(url, apiKey, `/v1/jobs/${id}/tasks`, { method: 'POST', headers: json, body: '{"tasks":[]}' }),
    ask(url, 'cb_wrong_key_wrong_key', '/v1/jobs'),
  ]);
}

const MODES = HAS_BUBBLEWRAP ? (['sandbox', 'host'] as const) : (['host'] as const);

// It sets the password of a Redis of its own, whose every key it then reads.
test.runIf(await hasRedisServer()).each(MODES)(
  'what processes know stays with them when agents, commands and providers try to tell it (%s)',
  async (mode) => {
    const secrets: Canaries = {
      modelKey: canary('model-key'),
      apiKey: `cb_${canary('api-key')}`.replace('/+', ''),
      redisPassword: canary('redis'),
      unrelated: canary('unrelated'),
      keyFile: canary('key-file'),
      dotEnv: canary('dot-env'),
    };
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-secrets-')));
    const [dataDir, workspace] = [join(folder, 'data'), join(folder, 'work')];
    await Promise.all([mkdir(dataDir), mkdir(workspace)]);
    await writeFile(join(dataDir, 'api-key'), secrets.keyFile, { mode: 0o600 });
    await writeFile(join(workspace, '.env'), `KEY=${secrets.dotEnv}\n`);
    await writeFile(join(workspace, 'a.txt'), 'nothing\n');

    await using store = await openOwnRedis('secrets');
    await store.redis.config('SET', 'requirepass', secrets.redisPassword);
    await using model = await startEvilModel(secrets, dataDir);
    const redisUrl = new URL(store.url);
    redisUrl.password = secrets.redisPassword;
    const variables = {
      REDIS_URL: redisUrl.href,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: secrets.modelKey,
      CREWBOARD_API_KEY: secrets.apiKey,
      MY_SECRET: secrets.unrelated,
      CREWBOARD_PORT: '0',
      CREWBOARD_DATA_DIR: dataDir,
      CREWBOARD_WORKSPACES: workspace,
      CREWBOARD_COMMANDS: mode,
      CREWBOARD_LOG_LEVEL: 'trace',
      CREWBOARD_MODEL_RETRY_MS: '2000',
    };
    await using api = await startService('api', variables, folder);
    await using worker = await startService('worker', variables, folder);
    const url = api.url ?? '';
    const client = createClient({ baseUrl: url, apiKey: secrets.apiKey });

    const { id } = await client.jobs.submit({
      tasks: [
        { title: 'Submits' },
        { title: 'Blocks' },
        {
          title: 'Fails',
          executor: 'command',
          command: { run: 'env; cat /proc/*/environ; exit 3' },
          maxAttempts: 1,
        },
        { title: 'Prints', executor: 'command', command: { run: `env; cat .env ${dataDir}/api-key; true` } },
      ],
      workspace: { path: workspace },
      tools: ['read_file', 'search_files', 'run_command'],
    });
    const untilOnlyPeople = async () => {
      const { counts } = await client.jobs.get(id);
      expect(counts).toMatchObject({ blocked: 1, completed: 2, failed: 1 });
    };
    await vi.waitFor(untilOnlyPeople, { timeout: 60_000, interval: 200 });
    await client.jobs.cancel(id, 'over');
    await vi.waitFor(async () => expect(await readdir(join(dataDir, 'archive'))).toHaveLength(1), {
      timeout: 30_000,
      interval: 100,
    });
    const job = await client.jobs.get(id);

    const answers = await allAnswers(url, secrets.apiKey, client, job);
    const refused = await startService(
      'worker',
      { ...variables, REDIS_URL: redisUrl.href.replace('canary', 'wrong-canary') },
      folder,
    ).catch((error: unknown) => String(error));
    const linesOf = ({ lines }: ServiceProcess) => lines.join('\n');
    const places = new Map([
      ...(await allOfRedis(store.redis)),
      ...(await allFiles(folder, [join(dataDir, 'api-key'), join(workspace, '.env')])),
      ...answers.map(({ path, status, body }) => [`answer ${status} ${path}`, body] as const),
      ['log of the api', linesOf(api)],
      ['log of the worker', linesOf(worker)],
      ['end of a worker with a wrong password', String(refused)],
      // Its headers are where the key belongs; its bodies are what agents were told.
      ...model.requests.map(({ body }, i) => [`request ${i}`, JSON.stringify(body)] as const),
    ]);

    // The tries were made, and are in what is searched.
    const everything = [...places.values()].join('\n');
    expect(everything).toContain('tried');
    expect(everything).toContain('upstream failed for');
    expect(everything).toMatch(/PATH=[^"]*\/usr\/bin/);
    expect(linesOf(worker)).toContain('a model call failed and is tried again');
    for (const path of ['/metrics', '/admin/queues/api/queues', `/v1/jobs/${id}/artifacts/got.txt`]) {
      expect(answers.find((answer) => answer.path === path)).toMatchObject({ status: 200 });
    }
    // A command that runs on the machine itself can read what its user can: these are no secrets of Crewboard.
    const { unrelated, keyFile, dotEnv, ...own } = secrets;
    const hidden = mode === 'sandbox' ? Object.values(secrets) : Object.values(own);
    expect(findSecrets(places, hidden)).toEqual([]);
    // The environment of Crewboard's processes is not inherited in either mode.
    const printed = answers.find(
      ({ path, body }) => path.endsWith('/transcript') && body.includes('command/1'),
    );
    expect(printed).toBeDefined();
    await rm(folder, { recursive: true, force: true });
  },
  180_000,
);

test('the search of this test finds a secret in every form', () => {
  const secret = canary('found');
  const forms = [
    secret,
    `a=${encodeURIComponent(secret)}`,
    ...['', 'k', 'ke', 'key'].map((before) => Buffer.from(`${before}${secret} and more`).toString('base64')),
    Buffer.from(`key ${secret}`).toString('base64url'),
    Buffer.from(secret).toString('hex'),
  ];
  for (const form of forms) {
    expect(findSecrets(new Map([['here', `before ${form} after`]]), [secret])).toHaveLength(1);
  }
  expect(findSecrets(new Map([['here', 'nothing']]), [secret])).toEqual([]);
});
