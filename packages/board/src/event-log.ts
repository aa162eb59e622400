import {
  type BoardEvent,
  BoardEvent as BoardEventSchema,
  CrewboardError,
  EVENT_FORMAT,
  type EventType,
  isoTime,
} from '@crewboard/contracts';
import { z } from 'zod';
import { parseActor, parseOwner } from './actors.ts';
import type { BoardIo } from './board-io.ts';
import { parseDependencies } from './records.ts';
import { withoutAbsent } from './without-absent.ts';

/** Events that one look for those of a task or of the job itself goes back at most. */
const EVENTS_SCANNED = 2000;

const StreamEntries = z.array(z.tuple([z.string(), z.array(z.string())]));

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

/** The newest events that `isWanted`, oldest first, at most `most` of the board's last EVENTS_SCANNED. */
export async function readLastEvents(
  io: BoardIo,
  jobId: string,
  isWanted: (event: BoardEvent) => boolean,
  most: number,
): Promise<BoardEvent[]> {
  const entries = await io.guard(() =>
    io.redis.xrevrange(io.keys.board(jobId, 'events'), '+', '-', 'COUNT', EVENTS_SCANNED),
  );
  const events = StreamEntries.parse(entries).map(([id, fields]) => toEvent(jobId, id, fields));
  return events.filter(isWanted).slice(0, most).reverse();
}

/** The newest events of one task; see {@link readLastEvents}. */
export async function readTaskEvents(
  io: BoardIo,
  jobId: string,
  taskId: string,
  most: number,
): Promise<BoardEvent[]> {
  return readLastEvents(io, jobId, (event) => event.taskId === taskId, most);
}

/** A board's log. */
export function eventLog(io: BoardIo) {
  return {
    /** Events after `after` (exclusive; `0-0`: from the start), at most `limit`. */
    async events(jobId: string, after: string, limit: number): Promise<BoardEvent[]> {
      const entries = await io.guard(() =>
        io.redis.xrange(io.keys.board(jobId, 'events'), `(${after}`, '+', 'COUNT', limit),
      );
      return StreamEntries.parse(entries).map(([id, fields]) => toEvent(jobId, id, fields));
    },

    /** See {@link readTaskEvents}. */
    taskEvents: (jobId: string, taskId: string, most: number) => readTaskEvents(io, jobId, taskId, most),

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
