import { foldEvents } from '@crewboard/board';
import {
  type BoardEvent,
  type Readiness,
  TASK_STATUSES,
  type Task,
  type TaskStatus,
} from '@crewboard/contracts';
import { becauseOf, countsOf, holdsAll, jobStatusOf, plannedOf, readinessOf } from './derive.ts';
import type { Rig } from './rig.ts';
import type { ModelBoard, ModelTask } from './state.ts';

/** What a board is, in terms that the model, the store and the log share. */
export interface Seen {
  job: { status: string; pauses: string[]; counts: object };
  tasks: Record<number, object>;
  folded: Record<number, object>;
  foldedStatus: string;
  outbox: string[];
  log: string[];
}

const ownerText = (owner: Task['owner']) => (owner === undefined ? '' : `${owner.kind}:${owner.id}`);

const READINESS = ['ready', 'waiting', 'scheduled', 'unreachable', 'held'] as const;

/** Which tasks each filter of lists finds, by their numbers. */
type Lists = Record<string, number[]>;

/** Proposals stand outside the counts, but filters find them by what they show. */
export function listsOfModel(board: ModelBoard): Lists {
  const lists: Lists = {};
  const numbers = (fits: (task: ModelTask) => boolean) =>
    plannedOf(board).flatMap((task) => (fits(task) ? [task.number] : []));
  for (const status of TASK_STATUSES) {
    lists[status] = numbers((task) => task.status === status);
  }
  const isHeld = holdsAll(board);
  for (const state of READINESS) {
    lists[state] = numbers((task) => {
      const isPending = task.status === 'pending';
      return isPending && (isHeld ? 'held' : readinessOf(task)) === state;
    });
  }
  return lists;
}

/** The lists of a board in Redis; they come from its index. */
export async function listsInRedis({ boards, jobId }: Rig): Promise<Lists> {
  const numbers = async (filter: { status?: TaskStatus; readiness?: Readiness['state'] }) => {
    const page = await boards.page(jobId, { after: 0, limit: 100, ...filter });
    return page.tasks.map((task) => task.number);
  };
  const lists: Lists = {};
  for (const status of TASK_STATUSES) lists[status] = await numbers({ status });
  for (const readiness of READINESS) lists[readiness] = await numbers({ readiness });
  return lists;
}

/** The model's view of itself. */
export function seenByModel(board: ModelBoard): Seen {
  const isHeld = holdsAll(board);
  const tasks = Object.fromEntries(board.tasks.map((task) => [task.number, modelTask(board, task, isHeld)]));
  const known = board.tasks.filter((task) => task.number > 0 || task.attempts.length > 0 || task.version > 1);
  return {
    job: { status: jobStatusOf(board), pauses: [...board.pauses], counts: countsOf(board) },
    tasks,
    folded: Object.fromEntries(known.map((task) => [task.number, modelFolded(task)])),
    foldedStatus: jobStatusOf(board),
    outbox: board.outbox.map((item) => JSON.stringify(item)).sort(),
    log: [...board.log].sort(),
  };
}

function modelTask(board: ModelBoard, task: ModelTask, isHeld: boolean): object {
  const isPending = task.status === 'pending';
  const readiness = isHeld ? 'held' : readinessOf(task);
  return {
    status: task.status,
    ...(isPending && { readiness }),
    ...(isPending && ['waiting', 'unreachable'].includes(readiness) && { because: because(board, task) }),
    version: task.version,
    owner: task.owner,
    attempt: task.attempts.length,
    failures: task.failures,
    maxAttempts: task.maxAttempts,
    priority: task.priority,
    dependsOn: task.dependsOn.map(({ on, condition }) => `${on} ${condition}`),
    hasLease: task.leaseEnd !== undefined,
    ...(task.status === 'failed' && { failure: task.failure }),
    ...(task.status === 'blocked' && { block: task.block }),
    attempts: task.attempts.map(({ claim: _, ...attempt }) => attempt),
  };
}

function because(board: ModelBoard, task: ModelTask): (number | string)[] {
  return task.hold === 'news' ? ['news'] : becauseOf(board, task);
}

function modelFolded(task: ModelTask): object {
  const last = task.attempts.at(-1);
  return {
    status: task.status,
    version: task.version,
    owner: task.owner,
    attempt: task.attempts.length,
    dependsOn: task.dependsOn.map(({ on, condition }) => `${on} ${condition}`),
    outcome: last?.outcome === undefined ? '' : `${last.outcome} ${last.class ?? ''}`.trim(),
  };
}

/** Reads the board in Redis; `events` are all so far, `fresh` those of the last step. */
export async function seenInRedis(
  rig: Rig,
  events: readonly BoardEvent[],
  fresh: readonly BoardEvent[],
): Promise<Seen> {
  const { boards, jobId, numberOf } = rig;
  const [job, page, outbox] = await Promise.all([
    boards.job(jobId),
    boards.page(jobId, { after: 0, limit: 100 }),
    boards.readOutbox(jobId, 1000),
  ]);
  const lead = job.lead === undefined ? [] : await boards.readTasks(jobId, [job.lead], false);
  const stored = [...lead.filter((task) => task !== undefined), ...page.tasks];
  const tasks = await Promise.all(
    stored.map(async (task) => [task.number, await storedTask(rig, task)] as const),
  );
  const folded = foldEvents(events);
  /** What an outbox entry is about: a task, a rerun, or neither. */
  const numberIn = (kind: string, about: string) => {
    if (kind === 'rerun') return Number(about);
    return about === '' ? 0 : numberOf(about);
  };
  return {
    job: { status: job.status, pauses: job.pauses, counts: job.counts },
    tasks: Object.fromEntries(tasks),
    folded: Object.fromEntries(
      [...folded.tasks].map(([id, { owner, dependsOn, outcome, ...task }]) => [
        numberOf(id),
        {
          ...task,
          owner: ownerText(owner),
          dependsOn: dependsOn.map(({ task: on, condition }) => `${numberOf(on)} ${condition}`),
          outcome: outcome === undefined ? '' : `${outcome.kind} ${outcome.class ?? ''}`.trim(),
        },
      ]),
    ),
    foldedStatus: folded.jobStatus,
    outbox: outbox
      // What goes into stores outside is none of the board's.
      .filter(({ kind }) => kind !== 'archive' && kind !== 'journal')
      .map(({ kind, taskId, attempt, dispatch }) =>
        JSON.stringify({ kind, task: numberIn(kind, taskId), attempt, dispatch }),
      )
      .sort(),
    log: fresh
      .map((event) => (event.taskId === undefined ? event.type : `${event.type} ${numberOf(event.taskId)}`))
      .sort(),
  };
}

async function storedTask({ boards, jobId, numberOf }: Rig, task: Task): Promise<object> {
  const { readiness } = task;
  const attempts = await boards.attempts(jobId, task.id, task.attempt);
  const names =
    readiness?.state === 'waiting'
      ? readiness.on
      : readiness?.state === 'unreachable'
        ? readiness.because
        : undefined;
  return {
    status: task.status,
    ...(readiness !== undefined && { readiness: readiness.state }),
    ...(names !== undefined && { because: names.map((name) => (name === 'news' ? name : numberOf(name))) }),
    version: task.version,
    owner: ownerText(task.owner),
    attempt: task.attempt,
    failures: task.failures,
    maxAttempts: task.maxAttempts,
    priority: task.priority,
    dependsOn: task.dependsOn.map(({ task: on, condition }) => `${numberOf(on)} ${condition}`),
    hasLease: task.leaseUntil !== undefined,
    ...(task.status === 'failed' && { failure: task.failure?.class }),
    ...(task.status === 'blocked' && { block: task.block?.kind }),
    attempts: attempts.map(({ owner, outcome, class: failure, answer }) => ({
      owner: ownerText(owner),
      ...(outcome !== undefined && { outcome }),
      ...(failure !== undefined && { class: failure }),
      ...(answer !== undefined && { answer }),
    })),
  };
}
