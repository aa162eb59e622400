import { EventEmitter, on } from 'node:events';
import {
  type BoardEvent,
  CrewboardError,
  isEnded,
  type Job,
  type ResultLine,
  type Task,
  TERMINAL_EVENT_TYPES,
} from '@crewboard/contracts';
import type { FollowItem, Scope, Service } from '@crewboard/orchestrator';
import { aJob, aTask } from './records.ts';

/** One job in memory, and what a test does to it and sees of it. */
interface FakeState {
  job: Job;
  tasks: Task[];
  log: BoardEvent[];
  results: () => AsyncIterable<ResultLine>;
  /** Every call, oldest first: the method and its arguments after the scope. */
  calls: { method: string; scope: Scope; args: unknown[] }[];
  /** Followers running now. */
  followers: number;
  /** Items that followers have taken. */
  taken: number;
  /** Adds an event to the log, live; a terminal one ends the job. */
  append(event: BoardEvent): void;
  /** Resolves when the number of followers is `count`. */
  followersAre(count: number): Promise<void>;
}

/** The state and the `Service` over it. */
export interface FakeService extends FakeState {
  service: Service;
}

function find(fake: FakeState, scope: Scope, jobId: string): Job {
  const visible = scope.project === '*' || scope.project === fake.job.project;
  if (!visible || jobId !== fake.job.id) throw new CrewboardError('not_found', `There is no job ${jobId}.`);
  return fake.job;
}

async function* follow(
  fake: FakeState,
  bus: EventEmitter,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<FollowItem> {
  fake.followers += 1;
  bus.emit('followers');
  const arrivals = on(bus, 'event', { signal });
  try {
    let place = after === 'now' ? fake.log.length : fake.log.findIndex(({ id }) => id === after) + 1;
    if (after !== undefined && after !== 'now' && place === 0) {
      yield { kind: 'resync', asOf: fake.log.at(-1)?.id ?? '0-0' };
      place = fake.log.length;
    }
    for (;;) {
      for (; place < fake.log.length; place++) {
        const event = fake.log[place];
        if (event === undefined) return;
        fake.taken += 1;
        yield { kind: 'event', event };
        const last = place + 1 === fake.log.length;
        if (last && TERMINAL_EVENT_TYPES.includes(event.type)) return;
      }
      await arrivals.next();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    fake.followers -= 1;
    bus.emit('followers');
    await arrivals.return?.();
  }
}

/** The calls on one task: each is recorded and answered with the task of the fake. */
function serveTask(fake: FakeState) {
  const onTask =
    (method: string) =>
    async (scope: Scope, jobId: string, taskId: string, ...args: unknown[]): Promise<Task> => {
      find(fake, scope, jobId);
      fake.calls.push({ method, scope, args: [jobId, taskId, ...args] });
      return fake.tasks[0] ?? aTask();
    };
  const reopen = onTask('reopenTask');
  return {
    async claimTask(scope, jobId, body) {
      const task = await onTask('claimTask')(scope, jobId, '', body);
      return {
        task,
        claimToken: '1-secret',
        attempt: 1,
        dependencies: [],
        moreDependencies: 0,
        earlierAttempts: [],
      };
    },
    async heartbeatTask(scope, jobId, taskId, body) {
      const { version } = await onTask('heartbeatTask')(scope, jobId, taskId, body);
      return { leaseUntil: '2026-01-01T00:00:00.000Z', version, notices: [] };
    },
    noteTask: onTask('noteTask'),
    submitTask: onTask('submitTask'),
    blockTask: onTask('blockTask'),
    failTask: onTask('failTask'),
    releaseTask: onTask('releaseTask'),
    editTask: onTask('editTask'),
    decideTask: onTask('decideTask'),
    cancelTask: onTask('cancelTask'),
    reopenTask: async (...call) => ({ ...(await reopen(...call)), startedDependents: [] }),
    async listAttempts(scope, jobId, taskId, query) {
      await onTask('listAttempts')(scope, jobId, taskId, query);
      return { attempts: [], nextCursor: '1' };
    },
    async readTranscript(scope, jobId, taskId, query) {
      const wanted = taskId ?? 't_22222222';
      await onTask('readTranscript')(scope, jobId, wanted, query);
      return { taskId: wanted, entries: [] };
    },
    async explainTask(scope, jobId, taskId) {
      await onTask('explainTask')(scope, jobId, taskId);
      return { text: 'is ready', readiness: { state: 'ready' }, because: [] };
    },
  } satisfies Partial<Service>;
}

function serve(fake: FakeState, bus: EventEmitter): Service {
  const record = (method: string, scope: Scope, ...args: unknown[]) =>
    fake.calls.push({ method, scope, args });
  const onJob =
    (method: string) =>
    async (scope: Scope, jobId: string, ...args: unknown[]): Promise<Job> => {
      record(method, scope, jobId, ...args);
      return find(fake, scope, jobId);
    };
  return {
    ...serveTask(fake),
    async submitJob(scope, body, idempotencyKey) {
      record('submitJob', scope, body, idempotencyKey);
      return { id: fake.job.id, status: fake.job.status, links: fake.job.links };
    },
    async dryRunJob(scope, body, idempotencyKey) {
      record('dryRunJob', scope, body, idempotencyKey);
      return {
        dryRun: true,
        project: fake.job.project,
        title: fake.job.title,
        status: 'running',
        tasks: { total: 0, ready: 0, waiting: 0, held: 0 },
        startsAtOnce: 0,
        first: [],
        limits: fake.job.limits,
        models: { worker: 'a-model' },
        simulated: false,
        warnings: [],
      };
    },
    async rerunTasks(scope, jobId, body, idempotencyKey) {
      const { id, status } = find(fake, scope, jobId);
      record('rerunTasks', scope, jobId, body, idempotencyKey);
      const counts = { matched: 1, reopened: 1, skipped: 0, left: 0 };
      return { jobId: id, status, rerun: 1, ...counts, startedDependents: [] };
    },
    getJob: async (scope, jobId) => find(fake, scope, jobId),
    async listJobs(scope, page) {
      record('listJobs', scope, page);
      return { jobs: [fake.job], nextCursor: 'more' };
    },
    async cancelJob(scope, jobId, reason) {
      record('cancelJob', scope, jobId, reason);
      fake.job = { ...find(fake, scope, jobId), status: 'cancelled' };
      return fake.job;
    },
    pauseJob: onJob('pauseJob'),
    resumeJob: onJob('resumeJob'),
    editJob: onJob('editJob'),
    startJob: onJob('startJob'),
    async deleteJob(scope, jobId) {
      find(fake, scope, jobId);
      record('deleteJob', scope, jobId);
    },
    async sendMessage(scope, jobId, body, key) {
      find(fake, scope, jobId);
      record('sendMessage', scope, jobId, body, key);
      return { messageId: 'msg_abcdefgh2345' };
    },
    async approvePlan(scope, jobId, body, key) {
      record('approvePlan', scope, jobId, body, key);
      return find(fake, scope, jobId);
    },
    async rejectPlan(scope, jobId, body, key) {
      record('rejectPlan', scope, jobId, body, key);
      return find(fake, scope, jobId);
    },
    async listTasks(scope, jobId, query) {
      find(fake, scope, jobId);
      record('listTasks', scope, jobId, query);
      return { tasks: fake.tasks, asOf: '1-0' };
    },
    async getTask(scope, jobId, taskId) {
      find(fake, scope, jobId);
      const task = fake.tasks.find(({ id }) => id === taskId);
      const nearest = fake.tasks.map(({ id }) => id);
      if (task === undefined)
        throw new CrewboardError('not_found', `There is no task ${taskId}.`, { nearest });
      return task;
    },
    async addTasks(scope, jobId, tasks, ...rest: unknown[]) {
      find(fake, scope, jobId);
      record('addTasks', scope, jobId, tasks, ...rest);
      return { created: {}, tasks: fake.tasks.map(({ id, number }) => ({ taskId: id, number })) };
    },
    async listEvents(scope, jobId, { after } = {}, limit = 50) {
      find(fake, scope, jobId);
      record('listEvents', scope, jobId, after, limit);
      const place = fake.log.findIndex(({ id }) => id === after) + 1;
      return { events: fake.log.slice(place, place + limit), asOf: fake.log.at(-1)?.id ?? '0-0' };
    },
    followEvents: (_scope, _jobId, { after }, signal) => follow(fake, bus, after, signal),
    async isCaughtUp(scope, jobId, after) {
      return isEnded(find(fake, scope, jobId).status) && fake.log.at(-1)?.id === after;
    },
    async getResult(scope, jobId) {
      const { id, status, counts, spend, simulated } = find(fake, scope, jobId);
      return { jobId: id, status, counts, spend, simulated };
    },
    resultLines: () => fake.results(),
    async listArtifacts(scope, jobId, query) {
      find(fake, scope, jobId);
      record('listArtifacts', scope, jobId, query);
      return { artifacts: [] };
    },
    async findArtifact(scope, jobId, name) {
      find(fake, scope, jobId);
      throw new CrewboardError('not_found', `There is no artifact ${name}.`);
    },
    async createKey(scope, body, key) {
      record('createKey', scope, body, key);
      return { id: 'key_abcdefgh2345', ...body, key: 'cb_abcdefgh2345_ABCDEFGHJKLMNPQRSTUVWXYZ' };
    },
    async listKeys(scope, query) {
      record('listKeys', scope, query);
      return { keys: [] };
    },
    async revokeKey(scope, id) {
      record('revokeKey', scope, id);
    },
    ready: async () => ({ ready: true, redis: 'ok', model: 'anthropic' }),
  };
}

/** Returns a fake with one running job of one task and an empty log. */
export function fakeService(): FakeService {
  const bus = new EventEmitter();
  bus.setMaxListeners(100);
  const fake: FakeState = {
    job: aJob(),
    tasks: [aTask()],
    log: [],
    results: async function* () {},
    calls: [],
    followers: 0,
    taken: 0,
    append(event) {
      fake.log.push(event);
      if (TERMINAL_EVENT_TYPES.includes(event.type)) fake.job = { ...fake.job, status: 'succeeded' };
      bus.emit('event');
    },
    async followersAre(count) {
      while (fake.followers !== count) await new Promise((resolve) => bus.once('followers', resolve));
    },
  };
  return Object.assign(fake, { service: serve(fake, bus) });
}
