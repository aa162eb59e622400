import { z } from 'zod';
import { EventId, JobId } from './ids.ts';
import { Counts, JobStatus } from './job.ts';
import { Task } from './task.ts';

/** A task as one line of a board shows it. */
export const TaskLine = Task.pick({
  id: true,
  number: true,
  key: true,
  version: true,
  title: true,
  status: true,
  readiness: true,
  owner: true,
  parent: true,
  priority: true,
  labels: true,
  attempt: true,
  failures: true,
  failure: true,
  block: true,
  progress: true,
});
export type TaskLine = z.infer<typeof TaskLine>;

/** The first tasks of a board in plan order, with what stands for all of them. */
export const BoardSnapshot = z.strictObject({
  jobId: JobId,
  title: z.string(),
  status: JobStatus,
  counts: Counts,
  tasks: z.array(TaskLine),
  /** How many tasks follow after the last one shown. */
  more: z.number().int().nonnegative(),
  /** The last event that it includes. */
  asOf: EventId,
});
export type BoardSnapshot = z.infer<typeof BoardSnapshot>;

const LINE_FIELDS = TaskLine.keyof().options;

/** Returns the short form of a task. */
export function toTaskLine(task: Task): TaskLine {
  const fields = LINE_FIELDS.filter((name) => task[name] !== undefined).map((name) => [name, task[name]]);
  return TaskLine.parse(Object.fromEntries(fields));
}
