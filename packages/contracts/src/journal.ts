import { z } from 'zod';
import { JsonValue } from './json.ts';
import { Usage } from './usage.ts';

/** The journal format that this version writes; a newer one is refused, an older one read. */
export const JOURNAL_FORMAT = 1;

/** One content block of a Messages API message, kept exactly as received: unknown types pass through. */
export const ContentBlock = z.looseObject({ type: z.string() });
export type ContentBlock = z.infer<typeof ContentBlock>;

const base = {
  v: z.number().int().min(1).max(JOURNAL_FORMAT),
  /** Unique within the journal: an append repeated with the same ID answers `already`. */
  id: z.string().min(1).max(100),
  /** The attempt (fence) that appended it. */
  attempt: z.number().int().positive(),
};

/**
 * One entry of a task's durable conversation. `start` with `fresh: true` begins the conversation anew (after a
 * failure); everything before it is history. `message` is a user message's texts; `reply` a whole model reply;
 * `tool.started` stands before each call that is not read-only; `tool.result` is a finished call's answer.
 */
export const JournalEntry = z.discriminatedUnion('kind', [
  z.strictObject({ ...base, kind: z.literal('start'), fresh: z.boolean() }),
  z.strictObject({ ...base, kind: z.literal('message'), texts: z.array(z.string().min(1)).min(1) }),
  z.strictObject({
    ...base,
    kind: z.literal('reply'),
    messageId: z.string(),
    model: z.string(),
    content: z.array(ContentBlock),
    stopReason: z.string(),
    usage: Usage,
    /** What the instructions and tools are known by that its usage counts. */
    prefixId: z.string().optional(),
  }),
  z.strictObject({ ...base, kind: z.literal('tool.started'), toolUseId: z.string(), name: z.string() }),
  z.strictObject({
    ...base,
    kind: z.literal('tool.result'),
    toolUseId: z.string(),
    content: z.string(),
    isError: z.boolean(),
    /** An error that brings what is new (see `ToolAnswer`). */
    isNews: z.literal(true).optional(),
  }),
  z.strictObject({ ...base, kind: z.literal('note'), name: z.string(), data: JsonValue }),
]);
export type JournalEntry = z.infer<typeof JournalEntry>;

type WithoutBase<T> = T extends unknown ? Omit<T, 'v' | 'id' | 'attempt'> : never;
/** An entry before the store adds format, ID and attempt. */
export type NewJournalEntry = WithoutBase<JournalEntry>;

/** Books a model call by what its reply used, in the same step as the entry that carries the reply. */
export interface CallSettlement {
  callId: string;
  nanoUsd: number;
}

/**
 * A task's journal as one attempt holds it. `append` is fenced: it throws `lease_lost` when the attempt is no
 * longer current, `unavailable` when the store can't be reached (after its own bounded retries); on return the
 * entry is durable and part of `entries`. A `settles` that comes with a reply is booked with it, or by itself when the
 * attempt is over.
 */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  append(entry: NewJournalEntry, settles?: CallSettlement): Promise<void>;
}
