import type {
  AddTasksAnswer,
  BoardEvent,
  EventList,
  Job,
  JobBody,
  JobList,
  JobResult,
  NewTask,
  Ready,
  ResultLine,
  SubmitAnswer,
  Task,
  TaskList,
  TaskListQuery,
} from '@crewboard/contracts';

/** Whose eyes a call sees with: one project, or `*` for all. A foreign job is `not_found`. */
export interface Scope {
  project: string;
  /** The caller's name for `by` in events: a key's name, never the key. */
  caller: string;
}

/** An event to send on, or the news that the asked-for ID is not in the log any more (or never was). */
export type FollowItem = { kind: 'event'; event: BoardEvent } | { kind: 'resync'; asOf: string };

/**
 * Everything that the HTTP API can ask of the orchestrator. Each method throws CrewboardError with a code of
 * DESIGN section 4; bodies are already parsed by their contracts schema.
 */
export interface Service {
  submitJob(scope: Scope, body: JobBody, idempotencyKey?: string): Promise<SubmitAnswer>;
  getJob(scope: Scope, jobId: string): Promise<Job>;
  listJobs(scope: Scope, page: { cursor?: string | undefined; limit?: number | undefined }): Promise<JobList>;
  cancelJob(scope: Scope, jobId: string, reason?: string): Promise<Job>;
  listTasks(scope: Scope, jobId: string, query: TaskListQuery): Promise<TaskList>;
  getTask(scope: Scope, jobId: string, taskId: string): Promise<Task>;
  addTasks(scope: Scope, jobId: string, tasks: NewTask[], idempotencyKey?: string): Promise<AddTasksAnswer>;
  /** A page of the log after `after` (exclusive; absent: from the start), at most `limit`. */
  listEvents(scope: Scope, jobId: string, after?: string, limit?: number): Promise<EventList>;
  /**
   * Replays after `after` (absent: from the start; `now`: live only), then follows live, and returns after the
   * terminal event or when `signal` aborts. Ends at once when the job is ended and `after` is its last event.
   */
  followEvents(
    scope: Scope,
    jobId: string,
    after: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<FollowItem>;
  /** True when the job is ended and `after` is its last event: SSE answers 204. */
  isCaughtUp(scope: Scope, jobId: string, after: string): Promise<boolean>;
  getResult(scope: Scope, jobId: string): Promise<JobResult>;
  /** One line a task, in plan order, at any time. */
  resultLines(scope: Scope, jobId: string): AsyncIterable<ResultLine>;
  ready(): Promise<Ready>;
}
