import type { Client } from '@crewboard/client';
import type { BoardEvent } from '@crewboard/contracts';
import { safeLine } from './text.ts';

/** Events name tasks by ID; the names shown are kept, up to this many. */
const MAX_NAMES = 10_000;
const LEAD = 'the lead';

/** Looks up what people call a task: its number and title. Never rejects: unknown tasks keep their ID. */
function taskNames(client: Client, jobId: string, signal: AbortSignal): (taskId: string) => Promise<string> {
  const known = new Map<string, string>();
  return async (taskId) => {
    const kept = known.get(taskId);
    if (kept !== undefined) return kept;
    const task = await client.tasks.get(jobId, taskId, { signal }).catch(() => undefined);
    if (task === undefined) return taskId;
    const name = task.number === 0 ? LEAD : `#${task.number} ${safeLine(task.title, 100)}`;
    if (known.size >= MAX_NAMES) known.clear();
    known.set(taskId, name);
    return name;
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

function textOf(event: BoardEvent, name: string): string | undefined {
  const value = event.data?.[name];
  return typeof value === 'string' && value !== '' ? safeLine(value, 160) : undefined;
}

/**
 * Returns a function that puts an event into a line for people, or answers undefined for what they need not see.
 * With `detailed`, as in small jobs, completed tasks get a line too.
 */
export function eventLines(
  client: Client,
  jobId: string,
  signal: AbortSignal,
): (event: BoardEvent, detailed: boolean) => Promise<string | undefined> {
  const nameOf = taskNames(client, jobId, signal);
  return async (event, detailed) => {
    const verb =
      notableVerb(event) ?? (detailed && event.type === 'task.completed' ? 'completed' : undefined);
    if (verb === undefined) return undefined;
    // The lead's own end is the job's, which is told by its result.
    const name = event.taskId === undefined ? 'the job' : await nameOf(event.taskId);
    if (verb === 'completed' && name === LEAD) return undefined;
    const reason = textOf(event, 'reason') ?? textOf(event, 'class');
    return reason === undefined ? `${verb} ${name}` : `${verb} ${name}: ${reason}`;
  };
}
