import { NO_USAGE, newJobId, newSecret, newTaskId, type Task } from '@crewboard/contracts';
import type { Redis } from 'ioredis';
import { BENCH } from '../support.ts';
import type { Design, DesignBoard } from './design.ts';

/**
 * The obvious other way: a board is one JSON document of its tasks as the API shows them, and a log of events beside
 * it. Who changes it does so under WATCH, and tries again when somebody else was faster. It keeps no leases, fences or
 * repeats and hands nothing on, so it does less than ours.
 */
interface Document {
  tasks: Record<string, Task & { claimToken?: string }>;
}

type Stored = Document['tasks'][string];

function taskOf(id: string, number: number): Stored {
  const at = new Date().toISOString();
  return {
    id,
    number,
    version: 1,
    title: `Task ${number - 1}`,
    status: 'pending',
    readiness: { state: 'ready' },
    dependsOn: [],
    onDependencyLost: 'hold',
    priority: 2,
    labels: [],
    executor: 'agent',
    acceptance: [],
    policy: 'none',
    attempt: 0,
    failures: 0,
    maxAttempts: 3,
    usage: NO_USAGE,
    createdBy: BENCH,
    createdAt: at,
    updatedAt: at,
  };
}

function claim(task: Stored): void {
  if (task.status !== 'pending') throw new Error(`${task.id} is ${task.status}`);
  task.status = 'in_progress';
  task.attempt += 1;
  task.owner = { kind: 'sub-agent', id: 'bench' };
  task.claimToken = newSecret();
  task.startedAt = new Date().toISOString();
  delete task.readiness;
}

function submit(task: Stored): void {
  if (task.status !== 'in_progress') throw new Error(`${task.id} is ${task.status}`);
  task.status = 'completed';
  task.result = { summary: 'done', artifacts: [] };
  task.endedAt = new Date().toISOString();
  delete task.claimToken;
}

/** A random wait that grows with the tries, as some clients make after a conflict; `mostMs` 0: none. */
async function backOff(tries: number, mostMs: number): Promise<void> {
  const waitMs = Math.random() * Math.min(mostMs, 2 ** tries);
  if (mostMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** How the documents are changed: the longest back-off after a conflict, and where the board is. */
interface Place {
  backOffMs: number;
  document: string;
  events: string;
}

/** One optimistic change of a task, tried again until it is in or the deadline comes. */
async function change(
  redis: Redis,
  place: Place,
  taskId: string,
  deadline: number,
  apply: (task: Stored) => void,
): Promise<boolean> {
  for (let tries = 0; performance.now() < deadline; tries++) {
    await redis.watch(place.document);
    const text = await redis.get(place.document);
    const document: Document = JSON.parse(text ?? '{}');
    const task = document.tasks[taskId];
    if (task === undefined) throw new Error(`no task ${taskId}`);
    apply(task);
    task.version += 1;
    task.updatedAt = new Date().toISOString();
    const saved = await redis
      .multi()
      .set(place.document, JSON.stringify(document))
      .xadd(place.events, '*', 'task', taskId, 'status', task.status, 'version', task.version)
      .exec();
    if (saved !== null) return true;
    await backOff(tries, place.backOffMs);
  }
  return false;
}

async function verify(redis: Redis, place: Place, claims: number, submits: number): Promise<void> {
  const document: Document = JSON.parse((await redis.get(place.document)) ?? '{}');
  const stored = Object.values(document.tasks);
  const completed = stored.filter(({ status }) => status === 'completed').length;
  const sum = (of: (task: Stored) => number) => stored.reduce((total, task) => total + of(task), 0);
  const attempts = sum(({ attempt }) => attempt);
  const changes = sum(({ version }) => version - 1);
  const events = await redis.xlen(place.events);
  if (completed !== submits || attempts !== claims || changes !== claims + submits || events !== changes)
    throw new Error(`lost an update: ${attempts} of ${claims} claims, ${completed} of ${submits} submits`);
  await redis.del(place.document, place.events);
}

/** Boards as JSON documents; `backOffMs` is the longest wait after a conflict, 0: tried again at once. */
export function jsonDocuments(redis: Redis, writers: number, backOffMs: number): Design {
  const connections = Array.from({ length: writers }, () => redis.duplicate());
  const of = (writer: number) => connections[writer] ?? redis;
  return {
    name: backOffMs > 0 ? 'one JSON document, with back-off' : 'one JSON document',
    async make(tasks): Promise<DesignBoard> {
      const jobId = newJobId();
      const place = { backOffMs, document: `bench:json:{${jobId}}`, events: `bench:json:{${jobId}}:events` };
      const ids = Array.from({ length: tasks }, newTaskId);
      const document: Document = { tasks: Object.fromEntries(ids.map((id, i) => [id, taskOf(id, i + 1)])) };
      await redis.set(place.document, JSON.stringify(document));
      return {
        claim: (writer, task, deadline) => change(of(writer), place, ids[task] ?? '', deadline, claim),
        submit: (writer, task, deadline) => change(of(writer), place, ids[task] ?? '', deadline, submit),
        verify: (claims, submits) => verify(redis, place, claims, submits),
      };
    },
    close() {
      for (const connection of connections) connection.disconnect();
    },
  };
}
