import { z } from 'zod';
import { Claim } from './claim.ts';
import { GivenEvidence } from './evidence.ts';
import { TaskId } from './ids.ts';
import { Counts } from './job.ts';
import { boundedJson } from './json.ts';
import { Task } from './task.ts';
import { BlockKind, Owner } from './task-states.ts';
import { boundedText, requiredText } from './text.ts';

const LEASE_MOST_MS = 86_400_000;
const leaseMs = z.number().int().min(1).max(LEASE_MOST_MS, 'must be at most 86400000 (24 hours)');
const version = z.number().int().positive();
const reason = requiredText(2048);

/** A caller's own name for one call: the same again changes nothing and gets the same answer. */
const requestId = requiredText(200);

/** `POST /v1/jobs/:id/tasks/claim`: one task by ID, any ready one with all of the labels, or the next for outside. */
export const ClaimBody = z
  .strictObject({
    taskId: TaskId.optional(),
    labels: z.array(z.string().min(1).max(64)).min(1).max(20).optional(),
    /** Who claims; a plain text means `{kind: "external", id}`. */
    owner: z.union([requiredText(200), Owner]),
    leaseMs: leaseMs.optional(),
    requestId: requestId.optional(),
  })
  .refine((body) => body.taskId === undefined || body.labels === undefined, {
    path: ['labels'],
    message: 'must not stand beside taskId: an ID names the task already',
  });
export type ClaimBody = z.infer<typeof ClaimBody>;

/** The claim, or that nothing is ready now. */
export const ClaimAnswer = z.union([Claim, z.strictObject({ task: z.null(), counts: Counts })]);
export type ClaimAnswer = z.infer<typeof ClaimAnswer>;

/** What every call of a holder carries. The token is asked for once job and task are known to exist. */
const held = { claimToken: requiredText(200).optional(), requestId: requestId.optional() };
const heldAt = { ...held, version: version.optional() };

export const HeartbeatBody = z.strictObject({ ...heldAt, leaseMs: leaseMs.optional() });
export type HeartbeatBody = z.infer<typeof HeartbeatBody>;

/** `leaseUntil` is absent for people: their claims have no lease. */
export const HeartbeatAnswer = z.strictObject({
  leaseUntil: z.string().optional(),
  version,
  notices: z.array(z.string()),
});
export type HeartbeatAnswer = z.infer<typeof HeartbeatAnswer>;

export const NoteBody = z.strictObject({
  ...heldAt,
  text: requiredText(2048),
  progress: requiredText(200).optional(),
});
export type NoteBody = z.infer<typeof NoteBody>;

/** `version` is the one that the holder saw last. */
export const SubmitBody = z.strictObject({
  ...held,
  version,
  summary: requiredText(2048),
  output: boundedJson(65_536).optional(),
  evidence: z.array(GivenEvidence).max(100).optional(),
  artifacts: z.array(boundedText(512)).max(100).optional(),
});
export type SubmitBody = z.infer<typeof SubmitBody>;

export const BlockBody = z
  .strictObject({
    ...heldAt,
    kind: BlockKind,
    reason,
    question: boundedText(4096).optional(),
    /** With kind `dependency`: the task to wait for. */
    on: TaskId.optional(),
  })
  .refine(({ kind, on }) => kind !== 'dependency' || on !== undefined, {
    path: ['on'],
    message: 'must name the task to wait for when the kind is "dependency"',
    params: { example: { kind: 'dependency', reason: 'Its glossary is needed first', on: 't_4kx9m2ab' } },
  })
  .refine(({ kind, on }) => kind === 'dependency' || on === undefined, {
    path: ['on'],
    message: 'must stand with kind "dependency" only',
  });
export type BlockBody = z.infer<typeof BlockBody>;

/** The failure classes that a holder outside can know of; the others are the harness' own. */
export const HolderFailureClass = z.enum([
  'model',
  'check',
  'refused',
  'truncated',
  'context',
  'budget',
  'timeout',
]);

export const FailBody = z.strictObject({
  ...heldAt,
  reason,
  class: HolderFailureClass.optional(),
  retryable: z.boolean().optional(),
});
export type FailBody = z.infer<typeof FailBody>;

export const ReleaseBody = z.strictObject({ ...heldAt, reason: boundedText(2048).optional() });
export type ReleaseBody = z.infer<typeof ReleaseBody>;

/** The task after a holder's call; `already`: this request was carried out before, nothing changed now. */
export const HolderAnswer = Task.extend({ already: z.literal(true).optional() });
export type HolderAnswer = z.infer<typeof HolderAnswer>;
