import type { Boards } from '@crewboard/board';
import {
  ARCHIVE_FORMAT,
  type ArchivedTask,
  type ArchiveLine,
  type Attempt,
  CrewboardError,
  type Task,
} from '@crewboard/contracts';
import type { MoveJournal } from '../journals/stored-journals.ts';

/** Tasks, attempts and events that one read takes. */
const TASKS = 100;
const ATTEMPTS = 500;
const EVENTS = 500;
/** Tasks whose attempts and journals are read side by side. */
const AT_ONCE = 8;

export interface JobSource {
  /** Boards in Redis alone. */
  boards: Boards;
  moveJournal: MoveJournal;
}

async function attemptsOf({ boards }: JobSource, jobId: string, task: Task): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (let from = 0; from < task.attempt; from += ATTEMPTS) {
    const to = Math.min(task.attempt, from + ATTEMPTS);
    attempts.push(...(await boards.attempts(jobId, task.id, to, to - from)));
  }
  return attempts;
}

/** A task with its attempts; its journal is in the store afterwards. */
async function taskLine(
  source: JobSource,
  jobId: string,
  task: Task,
  isOutside: boolean,
  signal: AbortSignal,
): Promise<ArchivedTask> {
  signal.throwIfAborted();
  const journal = task.attempt === 0 ? undefined : await source.moveJournal(jobId, task.id, signal);
  return {
    kind: 'task',
    task,
    attempts: await attemptsOf(source, jobId, task),
    ...(journal === undefined ? {} : { journal }),
    ...(isOutside ? { isOutside } : {}),
  };
}

/** Proposals among the tasks after `after`: those that the plan's own list leaves out. */
async function outsideOf({ boards }: JobSource, jobId: string, after: number, tasks: readonly Task[]) {
  const mayBe = tasks.some(({ status, readiness }) => status === 'cancelled' || readiness?.state === 'held');
  if (!mayBe) return new Set<string>();
  const { tasks: planned } = await boards.page(jobId, { after, limit: tasks.length, planned: true });
  const inPlan = new Set(planned.map(({ id }) => id));
  return new Set(tasks.flatMap(({ id }) => (inPlan.has(id) ? [] : [id])));
}

async function* taskLines(source: JobSource, jobId: string, lead: string | undefined, signal: AbortSignal) {
  const { boards } = source;
  if (lead !== undefined) yield taskLine(source, jobId, await boards.task(jobId, lead), false, signal);
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await boards.page(jobId, { after, limit: TASKS, full: true });
    const outside = await outsideOf(source, jobId, after, page.tasks);
    for (let at = 0; at < page.tasks.length; at += AT_ONCE) {
      const slice = page.tasks.slice(at, at + AT_ONCE);
      yield* await Promise.all(
        slice.map((task) => taskLine(source, jobId, task, outside.has(task.id), signal)),
      );
    }
    after = page.nextAfter;
  }
}

/** Every artifact once, though a scan may meet one twice. */
async function* artifactLines({ boards }: JobSource, jobId: string): AsyncGenerator<ArchiveLine> {
  const seen = new Set<string>();
  let cursor = '0';
  do {
    const { next, records } = await boards.artifactRecords(jobId, cursor);
    for (const record of records) {
      if (seen.has(record.artifact.ref)) continue;
      seen.add(record.artifact.ref);
      yield { kind: 'artifact', ...record };
    }
    cursor = next;
  } while (cursor !== '0');
}

async function* eventLines({ boards }: JobSource, jobId: string): AsyncGenerator<ArchiveLine> {
  for (let after: string | undefined = '0-0'; after !== undefined; ) {
    const events = await boards.events(jobId, after, EVENTS);
    for (const event of events) yield { kind: 'event', event };
    after = events.at(-1)?.id;
  }
}

/**
 * All lines of an ended job's archive but the end. `stamp` is the state that it is of; the caller looks whether the
 * board is still in it when they are written. Throws `unavailable` when the job is open again.
 */
export async function* jobLines(
  source: JobSource,
  jobId: string,
  stamp: string,
  signal: AbortSignal,
): AsyncGenerator<ArchiveLine> {
  const job = await source.boards.job(jobId);
  if (job.endedAt === 0) throw new CrewboardError('unavailable', `${jobId} was opened again.`);
  const { last: shown } = await source.boards.artifactRecords(jobId, '0');
  yield { kind: 'archive', v: ARCHIVE_FORMAT, jobId, stamp };
  yield { kind: 'job', job, shown };
  yield* taskLines(source, jobId, job.lead, signal);
  yield* artifactLines(source, jobId);
  yield* eventLines(source, jobId);
}
