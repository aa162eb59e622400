import { type BoardEvent, CrewboardError, type EventType } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { readEventsBack } from './event-log.ts';

/** One field that is newer than what the caller saw. */
export type FieldChange = {
  field: string;
  version: number;
  by: string;
  at: string;
};

/** More fields than a task has: the log is data like any other. */
const FIELDS_MOST = 30;

/** Events of a task that move nothing of it: they carry the version that it has anyway. */
const STILL: readonly EventType[] = [
  'task.noted',
  'task.progress',
  'task.unreachable',
  'message.accepted',
  'message.delivered',
  'message.expired',
];

/** What of a task is newer than `seen`: each field once, with who changed it last. */
function fieldsSince(events: readonly BoardEvent[], seen: number): FieldChange[] {
  const changes = new Map<string, FieldChange>();
  let last = seen;
  for (const { type, data, version = 0, by, at } of events) {
    // Of several events at one version the first is the change, the others follow from it.
    if (version <= last || STILL.includes(type)) continue;
    last = version;
    const fields = type === 'task.edited' && Array.isArray(data?.fields) ? data.fields : ['status'];
    for (const field of fields.map(String)) changes.set(field, { field, version, by: by.id, at });
  }
  return [...changes.values()].slice(0, FIELDS_MOST);
}

/** What a refusal tells of changes: those that were found, and whether older ones may be missing among them. */
function changesTold(changedSince: FieldChange[], isCut: boolean) {
  return isCut ? { changedSince, olderChangesMissing: true } : { changedSince };
}

/**
 * Adds to a `stale_version` what changed since the version that the caller saw, from the task's own events; any other
 * error goes on as it is. Always throws.
 */
export async function explainStale(
  io: BoardIo,
  jobId: string,
  error: unknown,
  seen: readonly { taskId: string; version: number }[],
): Promise<never> {
  if (!(error instanceof CrewboardError) || error.code !== 'stale_version') throw error;
  const taskId = error.extras.current?.taskId;
  const saw = seen.find((entry) => entry.taskId === taskId)?.version;
  if (typeof taskId !== 'string' || saw === undefined) throw error;
  const { events, isCut } = await readEventsBack(io, jobId, { taskId }, ({ version = 0 }) => version <= saw);
  throw error.with(changesTold(fieldsSince(events, saw), isCut));
}

/** Runs a holder's call; a `stale_version` of it says what changed since the version `seen`, where one was named. */
export async function withChangedSince<T>(
  io: BoardIo,
  { jobId, taskId }: { jobId: string; taskId: string },
  seen: number | undefined,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    return await explainStale(io, jobId, error, seen === undefined ? [] : [{ taskId, version: seen }]);
  }
}

const JobEdit = z.object({ version: z.number(), limits: z.looseObject({}) });

/** The limits of a job that are newer than `seen`: each once, with who changed it last. */
function limitsSince(events: readonly BoardEvent[], seen: number): FieldChange[] {
  const changes = new Map<string, FieldChange>();
  for (const { data, by, at } of events) {
    const edit = JobEdit.safeParse(data).data;
    if (edit === undefined || edit.version <= seen) continue;
    for (const name of Object.keys(edit.limits)) {
      const field = `limits.${name}`;
      changes.set(field, { field, version: edit.version, by: by.id, at });
    }
  }
  return [...changes.values()].slice(0, FIELDS_MOST);
}

/** Runs an edit of a job; a `stale_version` of it says which limits changed since the version `seen`. */
export async function withLimitsSince<T>(
  io: BoardIo,
  jobId: string,
  seen: number,
  edit: () => Promise<T>,
): Promise<T> {
  try {
    return await edit();
  } catch (error) {
    if (!(error instanceof CrewboardError) || error.code !== 'stale_version') throw error;
    const { events, isCut } = await readEventsBack(
      io,
      jobId,
      { type: 'job.edited' },
      ({ data }) => (JobEdit.safeParse(data).data?.version ?? 0) <= seen,
    );
    throw error.with(changesTold(limitsSince(events, seen), isCut));
  }
}
