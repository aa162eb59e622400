import { type Artifact, ClaimAnswer, Job, KeyList, SubmitAnswer, Task, TaskList } from '@crewboard/contracts';
import type { z } from 'zod';
import { putArtifact } from '../../packages/orchestrator/src/artifacts/put-artifact.ts';
import { AS_ADMIN } from './open-app.ts';
import type { RealApp } from './open-real-app.ts';

/** A request that has to succeed, with the status that it has to be answered. */
export interface Call {
  status: number;
  id?: string;
  taskId?: string;
  path?: string;
  query?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** What brings the server to where an operation succeeds; returns one call a documented status. */
export type Scene = (app: RealApp) => Promise<readonly Call[]>;

const EXTERNAL = { title: 'Read the meter', executor: 'external' } as const;
const NEVER = new AbortController().signal;

/** Sends JSON with the admin key; what is not a success fails the test. */
async function post(app: RealApp, path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`${app.url}/v1${path}`, {
    method: 'POST',
    headers: { ...AS_ADMIN, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const value: unknown = await answer.json();
  if (!answer.ok) throw new Error(`POST ${path}: ${JSON.stringify(value)}`);
  return value;
}

async function read<Schema extends z.ZodType>(app: RealApp, path: string, schema: Schema) {
  return schema.parse(await (await fetch(`${app.url}/v1${path}`, { headers: AS_ADMIN })).json());
}

async function submit(app: RealApp, body: object = {}): Promise<string> {
  return SubmitAnswer.parse(await post(app, '/jobs', { tasks: [EXTERNAL], ...body })).id;
}

/** A job of one task that nobody holds. */
async function open(app: RealApp, task: object = {}) {
  const id = await submit(app, { tasks: [{ ...EXTERNAL, ...task }] });
  const [first] = (await read(app, `/jobs/${id}/tasks`, TaskList)).tasks;
  if (first === undefined) throw new Error('no task');
  return { id, taskId: first.id, version: first.version };
}

/** A job whose one task is held; `act` makes a call of its holder and returns the task's version after it. */
async function held(app: RealApp, spec: object = {}) {
  const { id, taskId } = await open(app, spec);
  const answer = ClaimAnswer.parse(
    await post(app, `/jobs/${id}/tasks/claim`, { taskId, owner: 'laptop-7', leaseMs: 600_000 }),
  );
  if (!('claimToken' in answer)) throw new Error('nothing was claimed');
  const { claimToken, task } = answer;
  const act = async (action: string, body: object) =>
    Task.loose().parse(await post(app, `/jobs/${id}/tasks/${taskId}/${action}`, { claimToken, ...body }))
      .version;
  return { id, taskId, claimToken, version: task.version, act };
}

async function completed(app: RealApp, spec: object = {}) {
  const { act, version, ...task } = await held(app, spec);
  return { ...task, version: await act('submit', { version, summary: '42 kWh' }) };
}

async function failed(app: RealApp) {
  const { act, ...task } = await held(app);
  return { ...task, version: await act('fail', { reason: 'No meter', retryable: false }) };
}

async function blocked(app: RealApp) {
  const { act, ...task } = await held(app);
  return { ...task, version: await act('block', { kind: 'needs_input', reason: 'Which meter?' }) };
}

const onJob =
  (body?: unknown, spec: object = {}, status = 200): Scene =>
  async (app) => [{ status, id: await submit(app, spec), ...(body === undefined ? {} : { body }) }];

const onTask: Scene = async (app) => {
  const { id, taskId } = await completed(app);
  return [{ status: 200, id, taskId }];
};

/** A call of the holder. */
const byHolder =
  (body: (version: number) => object): Scene =>
  async (app) => {
    const { id, taskId, claimToken, version } = await held(app);
    return [{ status: 200, id, taskId, body: { claimToken, ...body(version) } }];
  };

/** A decision of a person on a task that `prepare` brings to where it can be made. */
const decision =
  (
    prepare: (app: RealApp) => Promise<{ id: string; taskId: string; version: number }>,
    more: object = {},
  ): Scene =>
  async (app) => {
    const { id, taskId, version } = await prepare(app);
    return [{ status: 200, id, taskId, body: { version, ...more } }];
  };

const inReview = (app: RealApp) => completed(app, { policy: 'approved' });

/** A decision on the plan of a job that waits for one. */
const onPlan =
  (more: object): Scene =>
  async (app) => {
    const id = await submit(app, { plan: { approve: true } });
    const { plan } = await read(app, `/jobs/${id}`, Job);
    if (plan === undefined) throw new Error('no plan');
    return [{ status: 200, id, body: { version: plan.version, ...more } }];
  };

const downloadArtifact: Scene = async (app) => {
  const { boards } = app.board;
  const { jobId, ids } = await app.board.job([{ key: 'a', title: 'A' }]);
  const { hold, task } = await app.board.claim(jobId, ids.a ?? '');
  const file = { path: 'out/data.csv', content: Buffer.from('a,b\n1,2\n'), isKept: false };
  const call = { requestId: 'r', signal: NEVER };
  const made: Artifact = await putArtifact({ boards, artifacts: app.artifacts }, hold, file, call);
  await boards.submit(hold, 's', task.version, { summary: 'done', evidence: [] });
  const known: Call = { status: 304, id: jobId, path: made.ref, headers: { 'if-none-match': '*' } };
  return [
    known,
    { status: 200, id: jobId, path: 'out/data.csv' },
    { status: 206, id: jobId, path: made.ref, headers: { range: 'bytes=0-2' } },
    { status: 416, id: jobId, path: 'out/data.csv', headers: { range: 'bytes=999-' } },
  ];
};

const followEvents: Scene = async (app): Promise<readonly Call[]> => {
  const { id } = await completed(app);
  const text = await app.readText(`/${id}/events`);
  const last = [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '';
  return [
    { status: 200, id, headers: { accept: 'text/event-stream' } },
    { status: 200, id, query: '?types=task.*&limit=1', headers: { accept: 'application/json' } },
    { status: 204, id, headers: { 'last-event-id': last } },
  ];
};

const createKey: Scene = async () => {
  const call = {
    body: { name: 'nightly build', role: 'submit', project: 'default' },
    headers: { 'idempotency-key': 'scene' },
  };
  return [
    { status: 201, ...call },
    { status: 200, ...call },
  ];
};

const revokeKey: Scene = async (app) => {
  await post(app, '/keys', { name: 'to be revoked', role: 'read', project: 'default' });
  const { keys } = await read(app, '/keys', KeyList);
  return [{ status: 204, id: keys.find(({ name }) => name === 'to be revoked')?.id ?? '' }];
};

const editJob: Scene = async (app) => {
  const id = await submit(app);
  const { version } = await read(app, `/jobs/${id}`, Job);
  return [{ status: 200, id, body: { version, limits: { maxParallel: 16 } } }];
};

const plain: Scene = async () => [{ status: 200 }];

/** How each operation succeeds, by its operationId. */
export const SCENES: Readonly<Record<string, Scene>> = {
  submitJob: async () => [
    { status: 202, body: { goal: 'Read all meters', metadata: { 'naïve 😀': [null, 1.5] } } },
    {
      status: 202,
      body: { map: { items: [{ n: 1 }, { n: 2 }], task: { title: 'Square {n}', executor: 'external' } } },
    },
    { status: 200, body: { tasks: [EXTERNAL], dryRun: true } },
  ],
  listJobs: async (app) => {
    await submit(app);
    return [{ status: 200, query: '?limit=1' }];
  },
  readJob: onJob(),
  deleteJob: async (app) => [{ status: 204, id: (await completed(app)).id }],
  editJob,
  cancelJob: onJob({ reason: 'No longer needed' }),
  pauseJob: onJob({ reason: 'The sources are being moved' }),
  resumeJob: async (app) => {
    const id = await submit(app);
    await post(app, `/jobs/${id}/pause`, {});
    return [{ status: 200, id }];
  },
  startJob: onJob({}, { hold: true }),
  rerunTasks: async (app) => [
    { status: 200, id: (await failed(app)).id, body: { where: { status: 'failed' }, expectCount: 1 } },
  ],
  sendMessage: async (app) => {
    const { id, taskId } = await open(app);
    return [{ status: 202, id, body: { text: 'Leave the cellar out', target: taskId } }];
  },
  approvePlan: onPlan({}),
  rejectPlan: onPlan({ text: 'One task a house' }),
  listTasks: onJob(),
  addTasks: onJob({ tasks: [{ key: 'b', title: 'B', executor: 'external' }] }, {}, 201),
  readTask: onTask,
  editTask: decision(open, { priority: 1 }),
  unblockTask: decision(blocked, { answer: 'The one in the cellar' }),
  approveTask: decision(inReview),
  rejectTask: decision(inReview, { text: 'Read it again' }),
  cancelTask: decision(open, { reason: 'No longer needed', dependents: 'cancel' }),
  reopenTask: decision(completed, { reason: 'A new meter' }),
  retryTask: decision(failed),
  listAttempts: onTask,
  readTranscript: onTask,
  readLeadTranscript: async (app) => [
    { status: 200, id: await submit(app, { goal: 'Read all meters', tasks: undefined }) },
  ],
  explainTask: onTask,
  claimTask: async (app) => [
    { status: 200, id: (await open(app)).id, body: { owner: { kind: 'human', id: 'ann' } } },
    { status: 200, id: (await held(app)).id, body: { owner: 'laptop-8' } },
  ],
  heartbeatTask: byHolder(() => ({ leaseMs: 60_000 })),
  noteTask: byHolder(() => ({ text: 'Half of it', progress: '5/10' })),
  submitTask: byHolder((version) => ({ version, summary: '42 kWh', output: { kWh: 42 } })),
  blockTask: byHolder(() => ({ kind: 'needs_input', reason: 'Which meter?' })),
  failTask: byHolder(() => ({ reason: 'No meter', retryable: false })),
  releaseTask: byHolder(() => ({ reason: 'Not today' })),
  followEvents,
  readResult: async (app) => [{ status: 200, id: (await completed(app)).id }],
  downloadResults: async (app) => [{ status: 200, id: (await completed(app)).id }],
  listArtifacts: async (app) => [{ status: 200, id: (await downloadArtifact(app))[0]?.id ?? '' }],
  downloadArtifact,
  createKey,
  listKeys: plain,
  revokeKey,
  readHealth: plain,
  readReadiness: plain,
  scrapeMetrics: plain,
  readOpenApi: plain,
};
