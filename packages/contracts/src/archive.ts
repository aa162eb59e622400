import { z } from 'zod';
import { Artifact } from './artifact.ts';
import { Attempt } from './claim.ts';
import { BoardEvent } from './event.ts';
import { EventId, JobId, TaskId } from './ids.ts';
import { Counts, JobSpec, JobStatus, PauseCause } from './job.ts';
import { JsonValue } from './json.ts';
import { Task } from './task.ts';
import { Usage } from './usage.ts';

/** The archive format that this version writes; a newer one is refused, an older one read. */
export const ARCHIVE_FORMAT = 1;

const count = z.number().int().nonnegative();
const usd = z.number().nonnegative();

/** Where the journal of a task lies that has left Redis: a content of the artifact store, one JSON entry a line. */
export const StoredJournal = z.object({
  v: z.literal(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: count,
  /** How many entries it has. */
  entries: count,
});
export type StoredJournal = z.infer<typeof StoredJournal>;

/** The job as its board had it in the end. Times in ms. */
export const ArchivedJob = z.object({
  spec: JobSpec,
  status: JobStatus,
  reason: z.string(),
  pauses: z.array(PauseCause),
  version: z.number().int().positive(),
  cancelling: z.boolean(),
  lead: TaskId.optional(),
  counts: Counts,
  movesByItself: z.boolean(),
  usage: Usage,
  money: z.object({ settledUsd: usd, estimatedUsd: usd, reservedUsd: usd, wastedUsd: usd }),
  result: z.object({ summary: z.string().optional(), output: JsonValue.optional() }).optional(),
  createdAt: count,
  startedAt: count,
  endedAt: z.number().int().positive(),
  asOf: EventId,
  cursor: z.string(),
  modelDown: z.string().optional(),
  queued: z.boolean(),
  held: z.boolean(),
  plan: z.enum(['none', 'planning', 'proposed']),
  questions: count,
});
export type ArchivedJob = z.infer<typeof ArchivedJob>;

/**
 * The lines of an archive, one JSON object each, in this order: what it is, the job, its tasks by number (the lead
 * first), its artifacts, its events by ID, and the end, which says that all of it is there.
 */
export const ArchiveHead = z.object({
  kind: z.literal('archive'),
  v: z.number().int().min(1).max(ARCHIVE_FORMAT),
  jobId: JobId,
  /** The state of the board that it is of; any other state voids it. */
  stamp: z.string(),
});
export type ArchiveHead = z.infer<typeof ArchiveHead>;

export const ArchivedJobLine = z.object({
  kind: z.literal('job'),
  job: ArchivedJob,
  /** The last number that an artifact has had under its path. */
  shown: count,
});
export type ArchivedJobLine = z.infer<typeof ArchivedJobLine>;

export const ArchivedTask = z.object({
  kind: z.literal('task'),
  task: Task,
  attempts: z.array(Attempt),
  journal: StoredJournal.optional(),
  /** A proposal, or a rejected one: it stands outside what is planned. */
  isOutside: z.literal(true).optional(),
});
export type ArchivedTask = z.infer<typeof ArchivedTask>;

export const ArchivedArtifact = z.object({
  kind: z.literal('artifact'),
  artifact: Artifact,
  /** Its number among those that show under a path; 0: it shows under none. */
  shown: count,
});
export type ArchivedArtifact = z.infer<typeof ArchivedArtifact>;

export const ArchivedEvent = z.object({ kind: z.literal('event'), event: BoardEvent });
export type ArchivedEvent = z.infer<typeof ArchivedEvent>;

export const ArchiveEnd = z.object({
  kind: z.literal('end'),
  /** Hex, of all bytes before this line. */
  sha256: z.string(),
});

/** A line as it is written. The end is the writer's own. */
export type ArchiveLine = ArchiveHead | ArchivedJobLine | ArchivedTask | ArchivedArtifact | ArchivedEvent;
