import type { Readable } from 'node:stream';
import type {
  AddTasksAnswer,
  ApprovePlanBody,
  Artifact,
  ArtifactList,
  ArtifactListQuery,
  AttemptList,
  AttemptListQuery,
  BlockBody,
  BoardEvent,
  CancelTaskBody,
  ChangedTask,
  ClaimAnswer,
  ClaimBody,
  CreatedKey,
  CreateKeyBody,
  DryRunAnswer,
  EditBody,
  EditJobBody,
  EventFilter,
  EventList,
  FailBody,
  HeartbeatAnswer,
  HeartbeatBody,
  HolderAnswer,
  Job,
  JobBody,
  JobList,
  JobResult,
  KeyList,
  KeyListQuery,
  MessageAnswer,
  MessageBody,
  NewTask,
  NoteBody,
  Ready,
  RejectPlanBody,
  ReleaseBody,
  ReopenAnswer,
  ReopenBody,
  RerunAnswer,
  RerunBody,
  ResultLine,
  SubmitAnswer,
  SubmitBody,
  Task,
  TaskList,
  TaskListQuery,
  TranscriptPage,
  Why,
} from '@crewboard/contracts';

/** Whose eyes a call sees with: one project, or `*` for all. A foreign job is `not_found`. */
export interface Scope {
  project: string;
  /** The caller's name for `by` in events: a key's name, never the key. */
  caller: string;
}

/**
 * An event to send on, the place up to which nothing more was for the follower, or the news that the asked-for ID is not
 * in the log any more (or never was).
 */
export type FollowItem =
  | { kind: 'event'; event: BoardEvent }
  | { kind: 'place'; id: string }
  | { kind: 'resync'; asOf: string };

/** Where in a log to begin, exclusive (absent: at its start), and what of it is wanted. */
export interface LogPlace {
  after?: string | undefined;
  filter?: EventFilter | undefined;
}

/** Taking a task from outside. */
export interface ClaimCalls {
  /**
   * Claims a task by ID, the first ready one with all labels, or the next one for outside; null when none is ready.
   * Errors: `forbidden` (kinds of owners inside), those of the board's claim, `not_found` with near IDs.
   */
  claimTask(scope: Scope, jobId: string, body: ClaimBody): Promise<ClaimAnswer>;
}

type HolderCall<Body> = (scope: Scope, jobId: string, taskId: string, body: Body) => Promise<HolderAnswer>;

/**
 * What the holder of a claim may do. Each call is fenced by the claim token and refused in the order of DESIGN section
 * 4: job, task, token, request ID, token outdated, terminal, version, transition. A repeat under the same request ID
 * changes nothing and answers `already`. The third error of a kind in a row carries `loopGuard` advice.
 */
export interface HolderCalls {
  heartbeatTask(scope: Scope, jobId: string, taskId: string, body: HeartbeatBody): Promise<HeartbeatAnswer>;
  noteTask: HolderCall<NoteBody>;
  submitTask: HolderCall<SubmitBody>;
  blockTask: HolderCall<BlockBody>;
  failTask: HolderCall<FailBody>;
  releaseTask: HolderCall<ReleaseBody>;
}

/** What people do with a job as a whole. Each answers the job as it is then. */
export interface JobCalls {
  /** Pauses the job for people (`user`); one that is paused so already stays as it is. Errors: `terminal`. */
  pauseJob(scope: Scope, jobId: string, reason?: string): Promise<Job>;
  /** Lifts all causes of the pause. Errors: `terminal`. */
  resumeJob(scope: Scope, jobId: string, reason?: string): Promise<Job>;
  /** New limits, at the version of the job that was seen. Errors: `stale_version`, `terminal`. */
  editJob(scope: Scope, jobId: string, body: EditJobBody): Promise<Job>;
  /** Starts a job that is held; one that was started stays as it is. */
  startJob(scope: Scope, jobId: string): Promise<Job>;
}

/** What a person decides about a task that waits for it. `text`: the answer or feedback for the next attempt. */
export interface TaskDecision {
  decision: 'unblock' | 'approve' | 'reject';
  version: number;
  text?: string | undefined;
}

/**
 * What people do with tasks. Each change names the version that they saw (`stale_version` with what changed since);
 * `forbidden` for task 0, which they may only read and retry. An Idempotency-Key makes a repeat harmless; used for
 * another call or with another body on the same board it is `idempotency_mismatch`.
 */
export interface PersonCalls {
  editTask(scope: Scope, jobId: string, taskId: string, body: EditBody): Promise<ChangedTask>;
  decideTask(
    scope: Scope,
    jobId: string,
    taskId: string,
    decision: TaskDecision,
    idempotencyKey?: string,
  ): Promise<ChangedTask>;
  cancelTask(
    scope: Scope,
    jobId: string,
    taskId: string,
    body: CancelTaskBody,
    idempotencyKey?: string,
  ): Promise<Task>;
  /** A terminal task again; one of an ended job opens that again. */
  reopenTask(
    scope: Scope,
    jobId: string,
    taskId: string,
    body: ReopenBody & { action: 'reopen' | 'retry' },
    idempotencyKey?: string,
  ): Promise<ReopenAnswer>;
  listAttempts(scope: Scope, jobId: string, taskId: string, query: AttemptListQuery): Promise<AttemptList>;
  /**
   * A page of the task's conversation, redacted, in the order in which it happened; without a task the lead's. Errors:
   * `not_found`, also for a job without a lead.
   */
  readTranscript(
    scope: Scope,
    jobId: string,
    taskId: string | undefined,
    query: AttemptListQuery,
  ): Promise<TranscriptPage>;
  /** Why the task is where it is. */
  explainTask(scope: Scope, jobId: string, taskId: string): Promise<Why>;
}

/** How people run many tasks of a job again. */
export interface RerunCalls {
  /**
   * Opens the ended tasks that match for another run; an ended job runs again. Tasks that do not match stay as they are.
   * Errors: `not_found` (nothing matches), `invalid_argument` (another number than `expectCount`), `terminal` (archived,
   * being cancelled), `idempotency_mismatch`. Nothing is changed then.
   */
  rerunTasks(scope: Scope, jobId: string, body: RerunBody, idempotencyKey?: string): Promise<RerunAnswer>;
}

/** How people steer a running job. An Idempotency-Key makes a repeat harmless. */
export interface SteerCalls {
  /**
   * A word to the agent of a task, or to the lead; stored when it is answered. What waits for a task that ends goes to
   * the lead. Errors: `terminal`, `not_found`, `invalid_argument` (no lead), `limit_exceeded` (too many wait).
   */
  sendMessage(
    scope: Scope,
    jobId: string,
    body: MessageBody,
    idempotencyKey?: string,
  ): Promise<MessageAnswer>;
  /**
   * Approves the plan that waits: its tasks are added and may start. Errors: `stale_version` (another plan than the one
   * seen), `invalid_transition` (none waits), `terminal`, those of adds.
   */
  approvePlan(scope: Scope, jobId: string, body: ApprovePlanBody, idempotencyKey?: string): Promise<Job>;
  /** Rejects it: the lead plans again with the text; without a lead the job is cancelled. Errors: as for approve. */
  rejectPlan(scope: Scope, jobId: string, body: RejectPlanBody, idempotencyKey?: string): Promise<Job>;
}

/** Files of a job: stored whole, shown under their path once the submit of their task was accepted. */
export interface ArtifactCalls {
  /** A page of what shows under a path, in the order in which it came to. */
  listArtifacts(scope: Scope, jobId: string, query: ArtifactListQuery): Promise<ArtifactList>;
  /** An artifact by its ref, or by the path under which it shows. Errors: `not_found`. */
  findArtifact(scope: Scope, jobId: string, name: string): Promise<OpenArtifact>;
}

/** How ended jobs go for good. */
export interface DeletionCalls {
  /**
   * Deletes an ended job: its board, its journals, its archive and its files. Repeated after a crash it goes on; once
   * all is gone the job is `not_found`. Errors: `invalid_transition` while the job is open.
   */
  deleteJob(scope: Scope, jobId: string): Promise<void>;
}

/** API keys, for callers of all projects; `forbidden` to any other. */
export interface KeyCalls {
  /**
   * Makes a key; its text is in this answer alone. Errors: `duplicate_key` (the name), `limit_exceeded`,
   * `idempotency_mismatch`, `terminal` (a repeat whose key was revoked).
   */
  createKey(scope: Scope, body: CreateKeyBody, idempotencyKey?: string): Promise<CreatedKey>;
  /** A page of keys in the order of their making, the environment's first. */
  listKeys(scope: Scope, query: KeyListQuery): Promise<KeyList>;
  /** Takes a key away, at once. Errors: `not_found`, `forbidden` for the environment's. */
  revokeKey(scope: Scope, id: string): Promise<void>;
}

export interface OpenArtifact {
  artifact: Artifact;
  /** Opens the content, or a part that lies in it; to be read to its end or destroyed. Errors: `unavailable` when it is lost. */
  read(range?: { offset: number; bytes: number }): Promise<Readable>;
}

/**
 * Everything that the HTTP API can ask of the orchestrator. Each method throws CrewboardError with a code of
 * DESIGN section 4; bodies are already parsed by their contracts schema. A task ID of another shape is `not_found`.
 */
export interface Service
  extends ClaimCalls,
    HolderCalls,
    PersonCalls,
    JobCalls,
    SteerCalls,
    RerunCalls,
    ArtifactCalls,
    DeletionCalls,
    KeyCalls {
  submitJob(scope: Scope, body: JobBody, idempotencyKey?: string): Promise<SubmitAnswer>;
  /** What submitting this body would do: the same errors, and nothing is stored. */
  dryRunJob(scope: Scope, body: JobBody, idempotencyKey?: string): Promise<DryRunAnswer>;
  getJob(scope: Scope, jobId: string): Promise<Job>;
  listJobs(scope: Scope, page: { cursor?: string | undefined; limit?: number | undefined }): Promise<JobList>;
  cancelJob(scope: Scope, jobId: string, reason?: string, idempotencyKey?: string): Promise<Job>;
  listTasks(scope: Scope, jobId: string, query: TaskListQuery): Promise<TaskList>;
  getTask(scope: Scope, jobId: string, taskId: string): Promise<Task>;
  addTasks(scope: Scope, jobId: string, tasks: NewTask[], idempotencyKey?: string): Promise<AddTasksAnswer>;
  /**
   * A page of the log, at most `limit` of what is wanted. With a filter one call looks at a bounded part of the log: a
   * page may be short of `limit`, or empty, while more follow.
   */
  listEvents(scope: Scope, jobId: string, from?: LogPlace, limit?: number): Promise<EventList>;
  /**
   * Replays from a place (`after` may be `now`: live only), then follows live, and returns after the terminal event,
   * which is always wanted, or when `signal` aborts. Ends at once when the job is ended and `after` is its last event.
   */
  followEvents(scope: Scope, jobId: string, from: LogPlace, signal: AbortSignal): AsyncIterable<FollowItem>;
  /** True when the job is ended and `after` is its last event: SSE answers 204. */
  isCaughtUp(scope: Scope, jobId: string, after: string): Promise<boolean>;
  getResult(scope: Scope, jobId: string): Promise<JobResult>;
  /** One line a task, in plan order, at any time. */
  resultLines(scope: Scope, jobId: string): AsyncIterable<ResultLine>;
  ready(): Promise<Ready>;
}
