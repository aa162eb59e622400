import {
  AddTasksAnswer,
  type ApproveBody,
  AttemptList,
  type BlockBody,
  type CancelTaskBody,
  ChangedTask,
  ClaimAnswer,
  type ClaimBody,
  type EditBody,
  type FailBody,
  HeartbeatAnswer,
  type HeartbeatBody,
  HolderAnswer,
  type NewTask,
  type NoteBody,
  type RejectBody,
  type ReleaseBody,
  ReopenAnswer,
  type ReopenBody,
  type SubmitBody,
  Task,
  TaskList,
  type TaskListQuery,
  TranscriptPage,
  type UnblockBody,
  Why,
} from '@crewboard/contracts';
import type { CallOptions, Page, WriteOptions } from './call-options.ts';
import { jobPath, namedBody, withQuery, writeHeaders } from './requests.ts';
import type { Schema, Transport } from './transport.ts';

/** A call on one task, with what it takes in its body. */
type TaskCall<Body, Answer, Options = CallOptions> = (
  jobId: string,
  taskId: string,
  body: Body,
  options?: Options,
) => Promise<Answer>;

/** What every body of a holder's call may carry. */
type HolderCallBody = Pick<ReleaseBody, 'requestId'>;

export interface TaskCalls {
  list(jobId: string, query?: TaskListQuery, options?: CallOptions): Promise<TaskList>;
  get(jobId: string, taskId: string, options?: CallOptions): Promise<Task>;
  add(jobId: string, tasks: NewTask[], options?: WriteOptions): Promise<AddTasksAnswer>;
  attempts(jobId: string, taskId: string, page?: Page, options?: CallOptions): Promise<AttemptList>;
  /** A page of the task's conversation; the lead is a task, too. */
  transcript(jobId: string, taskId: string, page?: Page, options?: CallOptions): Promise<TranscriptPage>;
  /** Why the task is where it is. */
  why(jobId: string, taskId: string, options?: CallOptions): Promise<Why>;

  /**
   * Takes a task to work on it; `task` is null when none is ready. A call without a `requestId` gets one, here and
   * below, under which it repeats itself when the answer is lost.
   */
  claim(jobId: string, body: ClaimBody, options?: CallOptions): Promise<ClaimAnswer>;
  /** What the holder of a claim sends; each carries its `claimToken`. */
  heartbeat: TaskCall<HeartbeatBody, HeartbeatAnswer>;
  note: TaskCall<NoteBody, HolderAnswer>;
  submit: TaskCall<SubmitBody, HolderAnswer>;
  block: TaskCall<BlockBody, HolderAnswer>;
  fail: TaskCall<FailBody, HolderAnswer>;
  release: TaskCall<ReleaseBody, HolderAnswer>;

  /** What people decide; each names the `version` that they saw. */
  edit: TaskCall<EditBody, ChangedTask>;
  unblock: TaskCall<UnblockBody, ChangedTask, WriteOptions>;
  approve: TaskCall<ApproveBody, ChangedTask, WriteOptions>;
  reject: TaskCall<RejectBody, ChangedTask, WriteOptions>;
  cancel: TaskCall<CancelTaskBody, Task, WriteOptions>;
  reopen: TaskCall<ReopenBody, ReopenAnswer, WriteOptions>;
  retry: TaskCall<ReopenBody, ReopenAnswer, WriteOptions>;
}

const taskPath = (jobId: string, taskId: string) => `${jobPath(jobId)}/tasks/${encodeURIComponent(taskId)}`;

/** The calls on a job's tasks. */
export function taskCalls(transport: Transport): TaskCalls {
  function post<Body, Answer>(action: string, answer: Schema<Answer>): TaskCall<Body, Answer, WriteOptions> {
    return (jobId, taskId, body, options = {}) =>
      transport.json(answer, {
        method: 'POST',
        path: `${taskPath(jobId, taskId)}/${action}`,
        body,
        headers: writeHeaders(options),
        signal: options.signal,
      });
  }

  /** What the holder of a claim sends; under a name of its own, so that it can be repeated. */
  function hold<Body extends HolderCallBody, Answer>(
    action: string,
    answer: Schema<Answer>,
  ): TaskCall<Body, Answer> {
    return (jobId, taskId, body, { signal } = {}) =>
      transport.json(answer, {
        method: 'POST',
        path: `${taskPath(jobId, taskId)}/${action}`,
        body: namedBody(body),
        signal,
        repeatable: true,
      });
  }

  return {
    list: (jobId, query = {}, { signal } = {}) =>
      transport.json(TaskList, { path: withQuery(`${jobPath(jobId)}/tasks`, query), signal }),
    get: (jobId, taskId, { signal } = {}) => transport.json(Task, { path: taskPath(jobId, taskId), signal }),
    add: (jobId, tasks, options = {}) =>
      transport.json(AddTasksAnswer, {
        method: 'POST',
        path: `${jobPath(jobId)}/tasks`,
        body: { tasks },
        headers: writeHeaders(options),
        signal: options.signal,
      }),
    attempts: (jobId, taskId, page = {}, { signal } = {}) =>
      transport.json(AttemptList, { path: withQuery(`${taskPath(jobId, taskId)}/attempts`, page), signal }),
    transcript: (jobId, taskId, page = {}, { signal } = {}) =>
      transport.json(TranscriptPage, {
        path: withQuery(`${taskPath(jobId, taskId)}/transcript`, page),
        signal,
      }),
    why: (jobId, taskId, { signal } = {}) =>
      transport.json(Why, { path: `${taskPath(jobId, taskId)}/why`, signal }),
    claim: (jobId, body, { signal } = {}) =>
      transport.json(ClaimAnswer, {
        method: 'POST',
        path: `${jobPath(jobId)}/tasks/claim`,
        body: namedBody(body),
        signal,
        repeatable: true,
      }),
    heartbeat: hold('heartbeat', HeartbeatAnswer),
    note: hold('note', HolderAnswer),
    submit: hold('submit', HolderAnswer),
    block: hold('block', HolderAnswer),
    fail: hold('fail', HolderAnswer),
    release: hold('release', HolderAnswer),
    edit: (jobId, taskId, body, { signal } = {}) =>
      transport.json(ChangedTask, { method: 'PATCH', path: taskPath(jobId, taskId), body, signal }),
    unblock: post('unblock', ChangedTask),
    approve: post('approve', ChangedTask),
    reject: post('reject', ChangedTask),
    cancel: post('cancel', Task),
    reopen: post('reopen', ReopenAnswer),
    retry: post('retry', ReopenAnswer),
  };
}
