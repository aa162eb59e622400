import { z } from 'zod';
import { ArtifactPath } from './artifact.ts';
import { GivenEvidence } from './evidence.ts';
import { TaskId } from './ids.ts';
import { boundedJson } from './json.ts';
import { NewTask, TaskChanges } from './new-task.ts';
import { BlockKind } from './task-states.ts';
import { boundedText, requiredText, titleText } from './text.ts';

const version = z.number().int().positive();
const reason = requiredText(2048);

/** `board_plan`: one batch of changes, all or nothing; how many may stand in it is the board's to say. */
export const PlanOp = z.discriminatedUnion('op', [
  NewTask.extend({ op: z.literal('add') }),
  TaskChanges.omit({ dependsOn: true }).extend({ op: z.literal('edit'), taskId: TaskId, version }),
  z.strictObject({
    op: z.literal('set_dependencies'),
    taskId: TaskId,
    version,
    dependsOn: NewTask.shape.dependsOn.unwrap(),
  }),
  z.strictObject({
    op: z.literal('cancel'),
    taskId: TaskId,
    version,
    reason,
    dependents: z.enum(['hold', 'cancel']).optional(),
  }),
  z.strictObject({ op: z.literal('reopen'), taskId: TaskId, version, reason }),
]);
export type PlanOp = z.infer<typeof PlanOp>;

export const BoardPlanInput = z.strictObject({
  ops: z.array(PlanOp).min(1),
  dryRun: z.boolean().optional(),
});
export type BoardPlanInput = z.infer<typeof BoardPlanInput>;

export const BOARD_VIEWS = [
  'ready',
  'active',
  'blocked',
  'review',
  'unreachable',
  'failed',
  'proposed',
  'done',
  'all',
] as const;

export const BoardListInput = z.strictObject({
  view: z.enum(BOARD_VIEWS).optional(),
  label: z.string().max(64).optional(),
  owner: z.string().max(200).optional(),
  cursor: z.string().max(100).optional(),
  limit: z.number().int().min(1).max(50).optional(),
});
export type BoardListInput = z.infer<typeof BoardListInput>;

export const BoardGetInput = z.strictObject({
  taskId: TaskId,
  include: z
    .array(z.enum(['attempts', 'events', 'evidence', 'dependencies']))
    .max(4)
    .optional(),
});
export type BoardGetInput = z.infer<typeof BoardGetInput>;

export const BoardResolveInput = z.strictObject({
  taskId: TaskId,
  version,
  decision: z.enum(['unblock', 'approve', 'reject', 'retry']),
  text: boundedText(4096).optional(),
});

/** `submit_plan`: no tasks means that those on the board are the whole plan. */
export const SubmitPlanInput = z.strictObject({
  tasks: z.array(NewTask).max(1000),
  text: boundedText(16_384).optional(),
});
export type SubmitPlanInput = z.infer<typeof SubmitPlanInput>;
export const AskUserInput = z.strictObject({ question: requiredText(4096) });
export type AskUserInput = z.infer<typeof AskUserInput>;
export const BoardWaitInput = z.strictObject({});
export type BoardWaitInput = z.infer<typeof BoardWaitInput>;

export const FinishJobInput = z.strictObject({
  summary: requiredText(2048),
  output: boundedJson(65_536).optional(),
  waive: z
    .array(z.strictObject({ taskId: TaskId, reason }))
    .max(1000)
    .optional(),
});
export type FinishJobInput = z.infer<typeof FinishJobInput>;

export const BoardNoteInput = z.strictObject({
  taskId: TaskId,
  text: requiredText(2048),
  progress: requiredText(200).optional(),
});
export const BoardBlockInput = z.strictObject({
  taskId: TaskId,
  kind: BlockKind,
  reason,
  on: TaskId.optional(),
});
export const BoardSubmitInput = z.strictObject({
  taskId: TaskId,
  summary: requiredText(2048),
  output: boundedJson(65_536).optional(),
  evidence: z.array(GivenEvidence).max(100).optional(),
  artifacts: z.array(boundedText(512)).max(100).optional(),
});
export type BoardSubmitInput = z.infer<typeof BoardSubmitInput>;
export const BoardFailInput = z.strictObject({
  taskId: TaskId,
  reason,
  retryable: z.boolean().optional(),
});
export const BoardProposeInput = z.strictObject({
  title: titleText(),
  instructions: boundedText(16_384).optional(),
  dependsOn: NewTask.shape.dependsOn,
});

const offset = z.number().int().nonnegative();
const path = requiredText(4096);

export const ReadFileInput = z.strictObject({
  path,
  offset: offset.optional(),
  limit: z.number().int().min(1).max(100_000).optional(),
});
export const ListFilesInput = z.strictObject({
  glob: requiredText(1024).optional(),
  limit: z.number().int().min(1).max(10_000).optional(),
});
export const SearchFilesInput = z.strictObject({
  pattern: requiredText(1024),
  glob: requiredText(1024).optional(),
  limit: z.number().int().min(1).max(1000).optional(),
});
/** Bounded by the tool in bytes; a lone surrogate has no bytes in UTF-8. */
const fileText = z.string().refine((text) => text.isWellFormed(), 'must not contain a lone surrogate');
export const WriteFileInput = z.strictObject({ path, content: fileText });
export const EditFileInput = z.strictObject({ path, find: fileText.min(1), replace: fileText });
export const RunCommandInput = z.strictObject({
  command: requiredText(16_384),
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
});
export const ReadArtifactInput = z.strictObject({
  ref: requiredText(512),
  offset: offset.optional(),
  limit: z.number().int().min(1).max(100_000).optional(),
});
export type ReadArtifactInput = z.infer<typeof ReadArtifactInput>;
export const WriteArtifactInput = z.strictObject({ path: ArtifactPath, content: z.string() });
export type WriteArtifactInput = z.infer<typeof WriteArtifactInput>;
