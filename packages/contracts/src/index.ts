export {
  ARCHIVE_FORMAT,
  ArchivedArtifact,
  ArchivedEvent,
  ArchivedJob,
  ArchivedJobLine,
  ArchivedTask,
  ArchiveEnd,
  ArchiveHead,
  type ArchiveLine,
  StoredJournal,
} from './archive.ts';
export {
  ARTIFACT_BYTES_MOST,
  Artifact,
  ArtifactList,
  ArtifactListQuery,
  ArtifactPath,
  ArtifactRef,
  artifactRefIn,
} from './artifact.ts';
export { BoardSnapshot, TaskLine, toTaskLine } from './board-snapshot.ts';
export { CheckedData, OUTPUT_SCHEMA_CHECK } from './checks.ts';
export { Attempt, Claim } from './claim.ts';
export { isoTime } from './clock.ts';
export { DryRunAnswer } from './dry-run.ts';
export { COMMANDS_MODES, type CommandsMode, Environment, parseEnvironment } from './environment.ts';
export { CrewboardError, ERROR_STATUS, ErrorCode, ErrorExtras, Problem, Retry } from './errors.ts';
export { BoardEvent, EVENT_FORMAT, EVENT_TYPES, EventType, TERMINAL_EVENT_TYPES } from './event.ts';
export { type EventFilter, EventFilterQuery, isTerminalEvent, isWanted } from './event-filter.ts';
export { Evidence, GivenEvidence } from './evidence.ts';
export {
  BlockBody,
  ClaimAnswer,
  ClaimBody,
  FailBody,
  HeartbeatAnswer,
  HeartbeatBody,
  HolderAnswer,
  HolderFailureClass,
  NoteBody,
  ReleaseBody,
  SubmitBody,
} from './holder-http.ts';
export {
  AddTasksAnswer,
  AddTasksBody,
  CancelBody,
  EventList,
  JobList,
  JobListQuery,
  Ready,
  ResultLine,
  SubmitAnswer,
  TaskList,
  TaskListQuery,
} from './http.ts';
export {
  EventId,
  JobId,
  MessageId,
  newJobId,
  newKeyId,
  newMessageId,
  newSecret,
  newTaskId,
  TaskId,
} from './ids.ts';
export { invalidArgument, parseOrThrow } from './invalid-argument.ts';
export { pathText, toldIssue } from './issue-text.ts';
export {
  Counts,
  DEFAULT_LIMITS,
  ENDED_STATUSES,
  isEnded,
  JOB_STATUSES,
  Job,
  JobBody,
  JobLimits,
  JobLimitsInput,
  JobLinks,
  JobPlan,
  JobResult,
  JobSpec,
  JobStatus,
  PauseCause,
  ProjectName,
  WorkToolName,
} from './job.ts';
export { EditJobBody, JobLimitsPatch, PauseBody, StartBody } from './job-edit-http.ts';
export {
  type CallSettlement,
  ContentBlock,
  JOURNAL_FORMAT,
  type Journal,
  JournalEntry,
  type NewJournalEntry,
} from './journal.ts';
export { boundedJson, holdsProto, JsonValue, PROTO_REFUSED } from './json.ts';
export { changedAt, valueAt } from './json-path.ts';
export {
  ApiKey,
  CreatedKey,
  CreateKeyBody,
  ENVIRONMENT_KEY_ID,
  KeyId,
  KeyList,
  KeyListQuery,
  KeyName,
  KeyProject,
  ROLES,
  Role,
} from './key.ts';
export { cursorAfter, type NumberedList, placeOf } from './list-cursor.ts';
export { type Mending, mendedCall } from './mended-call.ts';
export { editDistance, nearestName } from './near-name.ts';
export {
  AcceptanceItem,
  Check,
  Command,
  Dependency,
  DependencyRef,
  NewTask,
  TaskChanges,
  TaskKey,
  TaskLimits,
} from './new-task.ts';
export { type HttpRequest, httpCall, NextCall, toolCall } from './next-call.ts';
export {
  ApproveBody,
  AttemptList,
  AttemptListQuery,
  CancelTaskBody,
  ChangedTask,
  EditBody,
  RejectBody,
  ReopenAnswer,
  ReopenBody,
  UnblockBody,
  Why,
} from './person-http.ts';
export { REDACTED, redactor, redactText, secretsOf, secretsRemover } from './redact.ts';
export { redactFields } from './redact-fields.ts';
export { type RenderOptions, renderBoard, STATUS_ORDER } from './render-board.ts';
export { RerunAnswer, RerunBody, RerunWhere } from './rerun-http.ts';
export { escapedCharacter, padColumns, shownLine, textColumns, visibleText } from './shown-text.ts';
export {
  ApprovePlanBody,
  MessageAnswer,
  MessageBody,
  RejectPlanBody,
} from './steer-http.ts';
export { READINESS_STATES, Readiness, Task, TaskFailure, TaskResult } from './task.ts';
export {
  Actor,
  AttemptOutcome,
  BlockKind,
  Condition,
  Executor,
  FAILURE_CLASSES,
  FailureClass,
  isLost,
  isTerminal,
  Owner,
  OwnerKind,
  ParkCause,
  Policy,
  TASK_STATUSES,
  TaskStatus,
  TERMINAL_STATUSES,
} from './task-states.ts';
export { boundedText, cutUtf8, isBlank, isCleanText, requiredText, titleText, utf8Bytes } from './text.ts';
export { type Speech, toProblem, toToolError } from './told-error.ts';
export { AttemptEnd, type Tool, ToolAnswer, type ToolContext, WholeOutput } from './tool.ts';
export {
  AskUserInput,
  BOARD_VIEWS,
  BoardBlockInput,
  BoardFailInput,
  BoardGetInput,
  BoardListInput,
  BoardNoteInput,
  BoardPlanInput,
  BoardProposeInput,
  BoardResolveInput,
  BoardSubmitInput,
  BoardWaitInput,
  EditFileInput,
  FinishJobInput,
  ListFilesInput,
  PlanOp,
  ReadArtifactInput,
  ReadFileInput,
  RunCommandInput,
  SearchFilesInput,
  SubmitPlanInput,
  WriteArtifactInput,
  WriteFileInput,
} from './tool-inputs.ts';
export {
  BOOKKEEPING_TOOLS,
  COMPACTION_ASKED_NOTE,
  COMPACTION_DONE_NOTE,
  Recording,
  type RecordOptions,
  recordConversation,
  redactEntry,
  TranscriptPage,
  transcriptPage,
} from './transcript.ts';
export { addUsage, BudgetUsd, NO_USAGE, PaidUsage, Spend, tokensOf, Usage } from './usage.ts';
