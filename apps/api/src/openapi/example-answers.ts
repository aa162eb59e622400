import { DEFAULT_LIMITS, type Job, NO_USAGE, type Task } from '@crewboard/contracts';

const jobId = 'job_4kx9m2ab7ycd';
const taskId = 't_4kx9m2ab';
const [createdAt, startedAt, endedAt] = [
  '2026-11-30T09:00:00.000Z',
  '2026-11-30T09:00:00.412Z',
  '2026-11-30T09:07:31.902Z',
];
const asOf = '1764493200000-0';
const self = `/v1/jobs/${jobId}`;
const links = { self, tasks: `${self}/tasks`, events: `${self}/events`, result: `${self}/result` };
const user = { kind: 'user', id: 'admin' } as const;

const counts = {
  total: 3,
  pending: 1,
  in_progress: 1,
  in_review: 0,
  blocked: 0,
  completed: 1,
  failed: 0,
  cancelled: 0,
  ready: 0,
  waiting: 1,
  scheduled: 0,
  unreachable: 0,
  held: 0,
};

const spend = {
  settledUsd: 0.0412,
  estimatedUsd: 0,
  reservedUsd: 0.02,
  wastedUsd: 0,
  inputTokens: 8120,
  outputTokens: 1534,
  cacheReadTokens: 20_480,
  cacheWriteTokens: 2048,
};

const job: Job = {
  id: jobId,
  project: 'default',
  title: 'Translate the handbook',
  status: 'running',
  pauses: [],
  version: 1,
  counts,
  spend,
  limits: { ...DEFAULT_LIMITS, budgetUsd: 5 },
  simulated: false,
  createdAt,
  startedAt,
  links,
};

const task: Task = {
  id: taskId,
  number: 2,
  key: 'pages/intro',
  version: 3,
  title: 'Translate pages/intro.md',
  status: 'in_progress',
  owner: { kind: 'sub-agent', id: 'worker-1' },
  dependsOn: [{ task: 't_2hj3k4mn', condition: 'completed' }],
  onDependencyLost: 'hold',
  priority: 2,
  labels: ['de'],
  executor: 'agent',
  acceptance: [],
  policy: 'none',
  attempt: 1,
  failures: 0,
  maxAttempts: 3,
  leaseUntil: '2026-11-30T09:01:30.000Z',
  usage: { ...NO_USAGE, modelCalls: 2, inputTokens: 4100, outputTokens: 310, settledUsd: 0.0113 },
  createdBy: user,
  createdAt,
  updatedAt: startedAt,
  startedAt,
};

const held = { ...task, owner: { kind: 'external', id: 'laptop-7' }, executor: 'external' } as const;
const waiting = {
  ...task,
  version: 4,
  status: 'pending',
  readiness: { state: 'ready' },
  owner: undefined,
  leaseUntil: undefined,
} as const;
const ended = {
  ...task,
  version: 4,
  status: 'completed',
  owner: undefined,
  leaseUntil: undefined,
  result: { summary: 'Translated, 3 links kept', artifacts: [] },
  endedAt,
} as const;
const transcript = {
  taskId,
  entries: [
    {
      v: 1,
      id: 'm1',
      attempt: 1,
      kind: 'message',
      texts: ['Translate pages/intro.md. Keep the links as they are.'],
    },
  ],
};

/** What each operation is answered, by its name; one that answers no JSON has none. */
export const exampleAnswers: Readonly<Record<string, unknown>> = {
  submitJob: { id: jobId, status: 'planning', links },
  listJobs: { jobs: [job], nextCursor: 'c-jobs-1764493200000' },
  readJob: job,
  cancelJob: { ...job, statusReason: 'cancelling: No longer needed' },
  pauseJob: { ...job, status: 'paused', pauses: ['user'], statusReason: 'user: The sources are being moved' },
  resumeJob: job,
  editJob: { ...job, version: 2, limits: { ...job.limits, maxParallel: 16 } },
  startJob: job,
  rerunTasks: {
    jobId,
    status: 'running',
    rerun: 1,
    matched: 30,
    reopened: 30,
    skipped: 0,
    left: 0,
    startedDependents: [],
  },
  listTasks: { tasks: [task], asOf },
  addTasks: { created: { 'pages/intro': taskId }, tasks: [{ taskId, number: 2 }] },
  readTask: { ...task, instructions: 'Keep the links as they are.', input: { page: 'pages/intro.md' } },
  editTask: { ...waiting, priority: 1 },
  unblockTask: waiting,
  approveTask: ended,
  rejectTask: waiting,
  cancelTask: { ...task, version: 4, status: 'cancelled', owner: undefined, leaseUntil: undefined, endedAt },
  reopenTask: { ...waiting, startedDependents: [] },
  retryTask: { ...waiting, startedDependents: [] },
  listAttempts: {
    attempts: [{ attempt: 1, owner: task.owner, startedAt, endedAt, outcome: 'completed' }],
  },
  readTranscript: transcript,
  readLeadTranscript: transcript,
  explainTask: {
    text: '#3 t_9cdefghj waits for #2 t_4kx9m2ab (in_progress)',
    readiness: { state: 'waiting', on: [taskId] },
    because: [{ taskId, title: task.title, status: 'in_progress' }],
  },
  claimTask: {
    task: held,
    claimToken: '1-3k9fXw2mVbQzR7tY',
    leaseUntil: task.leaseUntil,
    attempt: 1,
    dependencies: [
      {
        taskId: 't_2hj3k4mn',
        title: 'Write the glossary',
        status: 'completed',
        summary: '212 terms',
        artifacts: [],
      },
    ],
    moreDependencies: 0,
    earlierAttempts: [],
  },
  heartbeatTask: { leaseUntil: task.leaseUntil, version: 3, notices: ['Leave the generated files out'] },
  noteTask: { ...held, progress: '5/10' },
  submitTask: { ...ended, executor: 'external' },
  blockTask: {
    ...held,
    version: 4,
    status: 'blocked',
    owner: undefined,
    leaseUntil: undefined,
    block: { kind: 'needs_input', reason: 'The glossary is missing', question: 'Where is it?' },
  },
  failTask: {
    ...held,
    version: 4,
    status: 'failed',
    owner: undefined,
    leaseUntil: undefined,
    failures: 1,
    failure: { class: 'model', reason: 'The page has no text' },
    endedAt,
  },
  releaseTask: { ...waiting, executor: 'external' },
  sendMessage: { messageId: 'msg_4kx9m2ab7ycd' },
  approvePlan: job,
  rejectPlan: { ...job, status: 'planning' },
  followEvents: {
    events: [
      { v: 1, id: asOf, at: createdAt, type: 'job.submitted', jobId, by: user, data: { title: job.title } },
    ],
    asOf,
  },
  readResult: {
    jobId,
    status: 'succeeded',
    summary: 'The handbook is translated',
    output: { pages: 12 },
    counts: { ...counts, pending: 0, in_progress: 0, completed: 3, waiting: 0 },
    spend: { ...spend, reservedUsd: 0 },
    simulated: false,
  },
  listArtifacts: {
    artifacts: [
      {
        ref: 'a_0f3c9d21b7e4a8566b1d',
        path: 'de/intro.md',
        bytes: 4211,
        sha256: '5e'.repeat(32),
        contentType: 'text/markdown',
        taskId,
        createdAt: endedAt,
      },
    ],
  },
  createKey: {
    id: 'key_4kx9m2ab7ycd',
    name: 'nightly build',
    role: 'submit',
    project: 'default',
    createdAt,
    key: 'cb_4kx9m2ab7ycd_…',
  },
  listKeys: {
    keys: [
      { id: 'env', name: 'admin', role: 'admin', project: '*', lastUsedAt: createdAt },
      { id: 'key_4kx9m2ab7ycd', name: 'nightly build', role: 'submit', project: 'default', createdAt },
    ],
  },
  readHealth: { ok: true },
  readOpenApi: { openapi: '3.1.1' },
  readReadiness: { ready: true, redis: 'ok', model: 'anthropic' },
};
