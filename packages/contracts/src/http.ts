import { z } from 'zod';
import { BoardEvent } from './event.ts';
import { EventId, JobId, TaskId } from './ids.ts';
import { Job, JobLinks, JobStatus } from './job.ts';
import { JsonValue, recordOf } from './json.ts';
import { NewTask } from './new-task.ts';
import { RerunWhere } from './rerun-http.ts';
import { READINESS_STATES, Task, TaskFailure } from './task.ts';
import { TaskStatus } from './task-states.ts';
import { boundedText } from './text.ts';
import { PaidUsage } from './usage.ts';

const limit = z.coerce.number().int().min(1).max(100).optional();
const cursor = z.string().max(100).optional();

/** 202 answer of `POST /v1/jobs`. */
export const SubmitAnswer = z.strictObject({ id: JobId, status: JobStatus, links: JobLinks });
export type SubmitAnswer = z.infer<typeof SubmitAnswer>;

export const JobList = z.strictObject({
  jobs: z.array(Job),
  /** Jobs of this page that can't be read at present, and why, such as one whose archive is missing. */
  unreadable: z.array(z.strictObject({ id: JobId, reason: z.string() })).optional(),
  nextCursor: z.string().optional(),
});
export type JobList = z.infer<typeof JobList>;
export const JobListQuery = z.strictObject({ cursor, limit });

/** A page of tasks and the last event it includes: list and stream from `asOf` have no gap. */
export const TaskList = z.strictObject({
  tasks: z.array(Task),
  nextCursor: z.string().optional(),
  asOf: EventId.optional(),
});
export type TaskList = z.infer<typeof TaskList>;
export const TaskListQuery = z.strictObject({
  status: TaskStatus.optional(),
  readiness: z.enum(READINESS_STATES).optional(),
  label: z.union([z.string().max(64), z.array(z.string().max(64)).max(20)]).optional(),
  /** As a rerun's `where` has them: a pattern for the whole key, and the class of the failure. */
  key: RerunWhere.shape.key,
  class: RerunWhere.shape.class,
  cursor,
  limit,
});
export type TaskListQuery = z.infer<typeof TaskListQuery>;

/** `POST /v1/jobs/:id/tasks`: all or nothing; how many a call may add is the board's to say (`limit_exceeded`). */
export const AddTasksBody = z.strictObject({ tasks: z.array(NewTask).min(1) });
/** Keys to IDs, and all tasks in input order. */
export const AddTasksAnswer = z.strictObject({
  created: recordOf(TaskId),
  tasks: z.array(z.strictObject({ taskId: TaskId, number: z.number().int().positive() })),
});
export type AddTasksAnswer = z.infer<typeof AddTasksAnswer>;

export const CancelBody = z.strictObject({ reason: boundedText(2048).optional() });

export const EventList = z.strictObject({
  events: z.array(BoardEvent),
  nextCursor: EventId.optional(),
  asOf: EventId.optional(),
});
export type EventList = z.infer<typeof EventList>;

/** One line of `results.jsonl`, in plan order. */
export const ResultLine = z.strictObject({
  key: z.string().optional(),
  taskId: TaskId,
  number: z.number().int().positive(),
  title: z.string(),
  status: TaskStatus,
  summary: z.string().optional(),
  output: JsonValue.optional(),
  failure: TaskFailure.optional(),
  attempts: z.number().int().nonnegative(),
  usage: PaidUsage,
});
export type ResultLine = z.infer<typeof ResultLine>;

/** Answer of `/readyz`. */
export const Ready = z.strictObject({
  ready: z.boolean(),
  redis: z.enum(['ok', 'down']),
  /** Why it is not ready, in one line. */
  reason: z.string().optional(),
  model: z.enum(['anthropic', 'simulated', 'none']),
});
export type Ready = z.infer<typeof Ready>;
