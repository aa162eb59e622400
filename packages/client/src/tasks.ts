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
import { jobPath, withQuery, writeHeaders } from './requests.ts';
import type { Schema, Transport } from './transport.ts';

/** A call on one task, with what it takes in its body. */
type TaskCall<Body, Answer, Options = CallOptions> = (
  jobId: string,
  taskId: string,
  body: Body,
  options?: Options,
) => Promise<Answer>;

export interface TaskCalls {
  list(jobId: string, query?: TaskListQuery, options?: CallOptions): Promise<TaskList>;
  get(jobId: string, taskId: string, options?: CallOptions): Promise<Task>;
  add(jobId: string, tasks: NewTask[], options?: WriteOptions): Promise<AddTasksAnswer>;
  attempts(jobId: string, taskId: string, page?: Page, options?: CallOptions): Promise<AttemptList>;
  /** A page of the task's conversation; the lead is a task, too. */
  transcript(jobId: string, taskId: string, page?: Page, options?: CallOptions): Promise<TranscriptPage>;
  /** Why the task is where it is. */
  why(jobId: string, taskId: string, options?: CallOptions): Promise<Why>;

  /** Takes a task to work on it; `task` is null when none is ready. */
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
      transport.json(ClaimAnswer, { method: 'POST', path: `${jobPath(jobId)}/tasks/claim`, body, signal }),
    heartbeat: post('heartbeat', HeartbeatAnswer),
    note: post('note', HolderAnswer),
    submit: post('submit', HolderAnswer),
    block: post('block', HolderAnswer),
    fail: post('fail', HolderAnswer),
    release: post('release', HolderAnswer),
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
