import {
  type BoardEvent,
  BoardEvent as BoardEventSchema,
  CrewboardError,
  EVENT_FORMAT,
  type EventType,
  isoTime,
  type Task,
} from '@crewboard/contracts';
import { parseActor, parseOwner } from './actors.ts';
import type { BoardIo } from './board-io.ts';
import { LogEntries, lookBack } from './look-back.ts';
import { parseDependencies } from './records.ts';
import { withoutAbsent } from './without-absent.ts';

function toEvent(jobId: string, id: string, fields: readonly string[]): BoardEvent {
  const field = new Map<string, string>();
  for (let i = 0; i + 1 < fields.length; i += 2) field.set(fields[i] ?? '', fields[i + 1] ?? '');
  const text = (name: string) => (field.get(name) === '' ? undefined : field.get(name));
  const number = (name: string) => (text(name) === undefined ? undefined : Number(text(name)));
  const extra = text('x');
  const type = text('t') ?? '';
  const parsed = BoardEventSchema.safeParse(
    withoutAbsent({
      v: number('v') ?? EVENT_FORMAT,
      id,
      at: isoTime(Number(id.split('-')[0])),
      type,
      jobId,
      taskId: text('k'),
      attempt: number('a'),
      by: parseActor(text('b') ?? ''),
      status: text('s'),
      version: number('n'),
      owner: text('o') === undefined ? undefined : parseOwner(text('o') ?? ''),
      data: extra === undefined ? undefined : eventData(type, extra),
    }),
  );
  if (parsed.success) return parsed.data;
  throw new CrewboardError('unavailable', `event ${id} can't be read by this version; upgrade this process.`);
}

/** An event's extra: JSON, but a new task's edges, which the script keeps in their short form. */
function eventData(type: EventType | string, extra: string): unknown {
  if (type === 'task.added' || type === 'task.proposed') return { dependsOn: parseDependencies(extra) };
  const data: unknown = JSON.parse(extra);
  if (type !== 'task.edited' || typeof data !== 'object' || data === null || !('deps' in data)) return data;
  const { deps, ...rest } = data;
  return { ...rest, dependsOn: parseDependencies(String(deps)) };
}

/** Events that are read where a task has ended, and how far their clock may be behind that of its record. */
export const EVENTS_AT_END = 2000;
export const CLOCK_SLACK_MS = 100;

/** The events of a log that are about a task, or of a type. */
type About = { taskId: string } | { type: EventType };

function isAbout(about: About, fields: readonly string[]): boolean {
  const [name, value] = 'taskId' in about ? ['k', about.taskId] : ['t', about.type];
  return fields.some((field, i) => i % 2 === 0 && field === name && fields[i + 1] === value);
}

/**
 * Events about a task or of a type, back from the newest one up to the first that `isEnough`, that one included; oldest
 * first. `isCut`: the look back ended before that, and not at the beginning of the log.
 */
export async function readEventsBack(
  io: BoardIo,
  jobId: string,
  about: About,
  isEnough: (event: BoardEvent) => boolean,
): Promise<{ events: BoardEvent[]; isCut: boolean }> {
  const { found, isCut } = await lookBack(io, jobId, {
    read: ([id, fields]) => (isAbout(about, fields) ? toEvent(jobId, id, fields) : undefined),
    isEnough,
  });
  return { events: found, isCut };
}

/** A board's log. */
export function eventLog(io: BoardIo) {
  return {
    /** Entries of the job's log, as Redis answers them to whoever reads it by other ways. Errors: `unavailable`. */
    parseEvents(jobId: string, entries: unknown): BoardEvent[] {
      return LogEntries.parse(entries).map(([id, fields]) => toEvent(jobId, id, fields));
    },

    /** Events after `after` (exclusive; `0-0`: from the start), at most `limit`. */
    async events(jobId: string, after: string, limit: number): Promise<BoardEvent[]> {
      const entries = await io.guard(() =>
        io.redis.xrange(io.keys.board(jobId, 'events'), `(${after}`, '+', 'COUNT', limit),
      );
      return LogEntries.parse(entries).map(([id, fields]) => toEvent(jobId, id, fields));
    },

    /** The newest events of one task, oldest first, at most `most`. */
    async taskEvents(jobId: string, taskId: string, most: number): Promise<BoardEvent[]> {
      let count = 0;
      return (await readEventsBack(io, jobId, { taskId }, () => ++count >= most)).events;
    },

    /** See {@link readEventsBack}. */
    taskEventsBack: (jobId: string, taskId: string, isEnough: (event: BoardEvent) => boolean) =>
      readEventsBack(io, jobId, { taskId }, isEnough),

    /**
     * The event that cancelled a task which is cancelled now; undefined when it is not found among the EVENTS_AT_END
     * after the task's end, which only a clock that was set anew can cause.
     */
    async cancelEvent(
      jobId: string,
      { id: taskId, version, endedAt }: Task,
    ): Promise<BoardEvent | undefined> {
      if (endedAt === undefined) return undefined;
      const from = Math.max(0, Date.parse(endedAt) - CLOCK_SLACK_MS);
      const entries = await io.guard(() =>
        io.redis.xrange(io.keys.board(jobId, 'events'), from, '+', 'COUNT', EVENTS_AT_END),
      );
      const entry = LogEntries.parse(entries).find(
        ([, fields]) =>
          isAbout({ type: 'task.cancelled' }, fields) &&
          isAbout({ taskId }, fields) &&
          fields.some((field, i) => field === 'n' && fields[i + 1] === String(version)),
      );
      return entry === undefined ? undefined : toEvent(jobId, ...entry);
    },

    /** The first event's ID, or undefined without one. */
    async firstEvent(jobId: string): Promise<string | undefined> {
      const entries = await io.guard(() =>
        io.redis.xrange(io.keys.board(jobId, 'events'), '-', '+', 'COUNT', 1),
      );
      return entries[0]?.[0];
    },

    /** True when the log has an entry with exactly this ID. */
    async hasEvent(jobId: string, id: string): Promise<boolean> {
      const entries = await io.guard(() => io.redis.xrange(io.keys.board(jobId, 'events'), id, id));
      return entries.length > 0;
    },
  };
}
