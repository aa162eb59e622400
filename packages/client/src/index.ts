// What the client's calls take, answer and throw: users need no other package.
export type {
  AddTasksAnswer,
  ApiKey,
  Artifact,
  ArtifactList,
  Attempt,
  AttemptList,
  BoardEvent,
  ChangedTask,
  Claim,
  ClaimAnswer,
  ClaimBody,
  Counts,
  CreatedKey,
  CreateKeyBody,
  DryRunAnswer,
  EditJobBody,
  ErrorCode,
  ErrorExtras,
  EventList,
  EventType,
  Job,
  JobBody,
  JobLimits,
  JobList,
  JobResult,
  JobStatus,
  JsonValue,
  KeyList,
  MessageAnswer,
  MessageBody,
  NewTask,
  Ready,
  ReopenAnswer,
  RerunAnswer,
  RerunBody,
  ResultLine,
  Retry,
  Spend,
  SubmitAnswer,
  Task,
  TaskList,
  TaskListQuery,
  TaskStatus,
  TranscriptPage,
  Why,
} from '@crewboard/contracts';
export { CrewboardError, isEnded } from '@crewboard/contracts';
export type { ArtifactCalls, DownloadOptions } from './artifacts.ts';
export type { CallOptions, Page, WriteOptions } from './call-options.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { isCrewboardError } from './errors.ts';
export type { FollowOptions } from './follow.ts';
export type { KeyCalls } from './keys.ts';
export type { RerunCalls } from './rerun.ts';
export type { Retries } from './retries.ts';
export type { SteerCalls } from './steer.ts';
export type { TaskCalls } from './tasks.ts';
