import type { FileHandle } from 'node:fs/promises';
import {
  CLOCK_SLACK_MS,
  EVENTS_AT_END,
  type PageQuery,
  pageThrough,
  type TaskPage,
  withoutAbsent,
} from '@crewboard/board';
import {
  ArchivedArtifact,
  ArchivedEvent,
  ArchivedTask,
  type Artifact,
  type Attempt,
  type BoardEvent,
  type StoredJournal,
  type Task,
} from '@crewboard/contracts';
import type { z } from 'zod';
import type { ArchiveIndex } from './archive-index.ts';
import { parseLine } from './lines.ts';

/** Numbers under a path that one page of artifacts looks at, as on a board. */
const NUMBERS_LOOKED_AT = 5000;

/** A task as lists show it. */
function withoutLongTexts(task: Task): Task {
  const { result } = task;
  return withoutAbsent({
    ...task,
    instructions: undefined,
    input: undefined,
    outputSchema: undefined,
    evidence: undefined,
    result: result === undefined ? undefined : withoutAbsent({ ...result, output: undefined }),
  });
}

/** True when the event ID `a` stands after `b`. */
function isAfter(a: string, b: string): boolean {
  const [aMs = 0, aSeq = 0] = a.split('-').map(Number);
  const [bMs = 0, bSeq = 0] = b.split('-').map(Number);
  return aMs === bMs ? aSeq > bSeq : aMs > bMs;
}

/** The first of `count` places, in order, for which `holds` is true, as it is for all after it; else `count`. */
function firstWhere(count: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Reads the lines of a section from the place `from` up to `to` (exclusive). */
type ReadSection = <T>(schema: z.ZodType<T>, places: number[], from: number, to: number) => Promise<T[]>;

function sectionReader(handle: FileHandle, { head }: ArchiveIndex): ReadSection {
  return async (schema, places, from, to) => {
    const start = places[from];
    const end = places[to];
    if (start === undefined || end === undefined || to <= from) return [];
    const bytes = Buffer.alloc(end - start);
    await handle.read(bytes, 0, bytes.length, start);
    return Array.from({ length: to - from }, (_, i) => {
      const at = (places[from + i] ?? 0) - start;
      return parseLine(schema, bytes.subarray(at, (places[from + i + 1] ?? 0) - start - 1), head.jobId);
    });
  };
}

function taskReads(readSection: ReadSection, { tasks, line }: ArchiveIndex) {
  const { asOf, counts } = line.job;
  const taskAt = async (place: number) =>
    (await readSection(ArchivedTask, tasks.places, place, place + 1))[0];

  async function archivedTask(taskId: string): Promise<ArchivedTask | undefined> {
    const place = tasks.byId.get(taskId);
    return place === undefined ? undefined : taskAt(place);
  }

  /** The places of the first tasks after a number that the filters let through, at most `most`. */
  function placesAfter(query: PageQuery, after: number, most: number): number[] {
    const found: number[] = [];
    const first = firstWhere(tasks.numbers.length, (place) => (tasks.numbers[place] ?? 0) > after);
    for (let place = first; place < tasks.numbers.length && found.length < most; place++) {
      const [status, readiness] = (tasks.states[place] ?? '').split('/');
      if ((query.status ?? status) === status && (query.readiness ?? readiness) === readiness)
        found.push(place);
    }
    return found;
  }

  /** Tasks as the board lists them. */
  async function list(query: PageQuery, after: number, limit: number) {
    const found = placesAfter(query, after, limit + 1);
    const page = found.slice(0, limit);
    const listed: Task[] = [];
    for (const place of page) {
      const task = query.planned && tasks.outside.has(place) ? undefined : (await taskAt(place))?.task;
      if (task !== undefined) listed.push(query.full ? task : withoutLongTexts(task));
    }
    const last = found.length > limit ? (tasks.numbers[page.at(-1) ?? 0] ?? 0) : 0;
    return { tasks: listed, last, asOf, counts };
  }

  return {
    /** Some tasks by ID, in the order asked. */
    async readTasks(taskIds: readonly string[], full: boolean): Promise<(Task | undefined)[]> {
      const found: (Task | undefined)[] = [];
      for (const id of taskIds) {
        const task = (await archivedTask(id))?.task;
        found.push(task === undefined || full ? task : withoutLongTexts(task));
      }
      return found;
    },
    page: (query: PageQuery): Promise<TaskPage> =>
      pageThrough(query, (after, limit) => list(query, after, limit)),
    /** The last `most` of a task's first `soFar` attempts. */
    async attempts(taskId: string, soFar: number, most: number): Promise<Attempt[]> {
      const { attempts = [] } = (await archivedTask(taskId)) ?? {};
      return attempts.filter(({ attempt }) => attempt <= soFar && attempt > soFar - most);
    },
    journalOf: async (taskId: string): Promise<StoredJournal | undefined> =>
      (await archivedTask(taskId))?.journal,
  };
}

function eventReads(readSection: ReadSection, { events: { places } }: ArchiveIndex) {
  const count = places.length - 1;

  async function eventsAt(from: number, to: number): Promise<BoardEvent[]> {
    const section = await readSection(ArchivedEvent, places, from, Math.min(to, count));
    return section.map(({ event }) => event);
  }

  /** The place of the first event after `id`. */
  async function placeAfter(id: string): Promise<number> {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [event] = await eventsAt(middle, middle + 1);
      if (event !== undefined && isAfter(event.id, id)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  return {
    /** Events after `after`, at most `limit`. */
    async events(after: string, limit: number): Promise<BoardEvent[]> {
      const from = await placeAfter(after);
      return eventsAt(from, from + limit);
    },
    /** The last events, at most `most`. */
    lastEvents: (most: number): Promise<BoardEvent[]> => eventsAt(Math.max(0, count - most), count),
    /** The event that cancelled a task which is cancelled now, as on a board. */
    async cancelEvent({ id, version, endedAt }: Task): Promise<BoardEvent | undefined> {
      if (endedAt === undefined) return undefined;
      const from = await placeAfter(`${Math.max(0, Date.parse(endedAt) - CLOCK_SLACK_MS)}-0`);
      const events = await eventsAt(from, from + EVENTS_AT_END);
      return events.find(
        (event) => event.type === 'task.cancelled' && event.taskId === id && event.version === version,
      );
    },
    async hasEvent(id: string): Promise<boolean> {
      const place = await placeAfter(id);
      return (await eventsAt(place - 1, place))[0]?.id === id;
    },
  };
}

function artifactReads(readSection: ReadSection, { artifacts, line }: ArchiveIndex) {
  const artifactAt = async (place: number) =>
    (await readSection(ArchivedArtifact, artifacts.places, place, place + 1))[0]?.artifact;
  return {
    async findArtifact(name: string): Promise<Artifact | undefined> {
      const place = artifacts.byName.get(name);
      return place === undefined ? undefined : artifactAt(place);
    },
    /** A page of what shows under a path after the number `after`. */
    async artifactPage(after: number, limit: number) {
      const stop = Math.min(line.shown, after + NUMBERS_LOOKED_AT);
      const page = artifacts.shown.filter(({ number }) => number > after && number <= stop).slice(0, limit);
      const found = await Promise.all(page.map(({ place }) => artifactAt(place)));
      const at = page.length === limit ? (page.at(-1)?.number ?? stop) : Math.max(after, stop);
      return {
        artifacts: found.filter((artifact) => artifact !== undefined),
        nextAfter: at < line.shown ? at : undefined,
      };
    },
  };
}

/** Reads of one open archive: they answer what its board would have. */
export function archiveReader(handle: FileHandle, index: ArchiveIndex) {
  const readSection = sectionReader(handle, index);
  return {
    ...taskReads(readSection, index),
    ...eventReads(readSection, index),
    ...artifactReads(readSection, index),
  };
}

export type ArchiveReader = ReturnType<typeof archiveReader>;
