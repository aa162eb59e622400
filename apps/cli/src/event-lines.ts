import type { Client } from '@crewboard/client';
import type { BoardEvent } from '@crewboard/contracts';
import { eventText } from './event-text.ts';
import { rateLine } from './rate-lines.ts';
import { plural, safeLine } from './text.ts';

/** Events name tasks by ID; the names shown are kept, up to this many. */
const MAX_NAMES = 10_000;
/** Up to this many tasks each claim and completion gets a line; beyond, people watch the counts. */
const DETAILED_TASKS = 60;
const NAMES_A_CALL = 100;
const LEAD = 'the lead';

interface TaskNames {
  /** What people call a task: its number and title. Never rejects: an unknown task keeps its ID. */
  of(taskId: string): Promise<string>;
  /** Some have been added or changed, so it is worth asking for all of them again. */
  forget(taskId: string | undefined): void;
}

/** Looks names up, many at once where it can: one call a task would leave the lines behind the events. */
function taskNames(client: Client, jobId: string, signal: AbortSignal): TaskNames {
  const known = new Map<string, string>();
  let mayList = true;
  function keep({ id, number, title }: { id: string; number: number; title: string }): string {
    if (known.size >= MAX_NAMES) known.clear();
    const name = number === 0 ? LEAD : `#${number} ${safeLine(title, 100)}`;
    known.set(id, name);
    return name;
  }
  return {
    async of(taskId) {
      if (mayList && !known.has(taskId)) {
        mayList = false;
        const page = await client.tasks
          .list(jobId, { limit: NAMES_A_CALL }, { signal })
          .catch(() => undefined);
        page?.tasks.forEach(keep);
      }
      const kept = known.get(taskId);
      if (kept !== undefined) return kept;
      const task = await client.tasks.get(jobId, taskId, { signal }).catch(() => undefined);
      return task === undefined ? taskId : keep(task);
    },
    forget(taskId) {
      mayList = true;
      if (taskId !== undefined) known.delete(taskId);
    },
  };
}

/** What is shown of an event in any job. */
function notableVerb({ type, status, data }: BoardEvent): string | undefined {
  switch (type) {
    case 'task.failed':
      return status === 'pending' ? 'will retry' : 'failed';
    case 'task.parked':
      // One without a time waits for news, as a lead mostly does; one with a time has trouble with its model.
      return data?.notBefore === undefined ? undefined : 'parked';
    case 'task.blocked':
    case 'task.unreachable':
    case 'task.expired':
    case 'job.paused':
    case 'job.resumed':
      return type.slice(type.indexOf('.') + 1);
    default:
      return undefined;
  }
}

/** What is shown of each task in small jobs only. */
function routineVerb({ type }: BoardEvent): string | undefined {
  return type === 'task.claimed' || type === 'task.completed' ? type.slice('task.'.length) : undefined;
}

/** What people are asked, with the command that answers. */
function askedLine(event: BoardEvent, jobId: string): string | undefined {
  if (event.type === 'plan.proposed')
    return `plan ${event.data?.version} waits for approval: crewboard approve ${jobId} --show`;
  if (event.type !== 'task.noted' || event.data?.question !== true) return undefined;
  return `the lead asks: ${eventText(event, 'text') ?? ''} (answer with: crewboard steer ${jobId} TEXT)`;
}

/** A job's story for people, told event by event from its first one. */
export interface EventLines {
  /** The lines for the next event: none for what people need not see. */
  linesFor(event: BoardEvent): Promise<string[]>;
  /** True while each task is told of; false once there are so many that they are only counted. */
  isDetailed(): boolean;
}

/** Begins the story of a job. */
export function eventLines(client: Client, jobId: string, signal: AbortSignal): EventLines {
  const names = taskNames(client, jobId, signal);
  let added = 0;
  /** Of the `added`, those not yet told of: they come in a row, and are told of in one line. */
  let planned = 0;
  let saidCounted = false;
  const isDetailed = () => added <= DETAILED_TASKS;

  function takeAdded(event: BoardEvent): void {
    names.forget(undefined);
    if (event.status !== 'pending') return;
    added += 1;
    planned += 1;
  }

  async function lineFor(event: BoardEvent): Promise<string | undefined> {
    const routine = routineVerb(event);
    if (routine !== undefined && !isDetailed()) {
      if (saidCounted) return undefined;
      saidCounted = true;
      return `more than ${DETAILED_TASKS} tasks: claimed and completed ones are only counted from here on`;
    }
    const whole = askedLine(event, jobId) ?? rateLine(event);
    if (whole !== undefined) return whole;
    const verb = notableVerb(event) ?? routine;
    if (verb === undefined) return undefined;
    const name = event.taskId === undefined ? 'the job' : await names.of(event.taskId);
    // The lead's own start and end are the job's, which are told by its state and its result.
    if (routine !== undefined && name === LEAD) return undefined;
    const reason = eventText(event, 'reason') ?? eventText(event, 'class');
    return reason === undefined ? `${verb} ${name}` : `${verb} ${name}: ${reason}`;
  }

  return {
    isDetailed,
    async linesFor(event) {
      if (event.type === 'task.edited') names.forget(event.taskId);
      if (event.type === 'task.added') {
        takeAdded(event);
        return [];
      }
      const lines = planned === 0 ? [] : [`planned ${plural(planned, 'task')}`];
      planned = 0;
      const line = await lineFor(event);
      return line === undefined ? lines : [...lines, line];
    },
  };
}
