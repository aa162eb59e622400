import { z } from 'zod';
import { TaskId } from './ids.ts';
import { ContentBlock, JournalEntry } from './journal.ts';
import type { JsonValue } from './json.ts';
import { cursorAfter, placeOf } from './list-cursor.ts';
import { redactText } from './redact.ts';
import { FailureClass } from './task-states.ts';
import type { AttemptEnd } from './tool.ts';
import { Usage } from './usage.ts';

/** A page of a task's conversation, in the order in which it happened. */
export const TranscriptPage = z.strictObject({
  taskId: TaskId,
  entries: z.array(JournalEntry),
  /** Where the next page begins; absent on the last. */
  nextCursor: z.string().optional(),
});
export type TranscriptPage = z.infer<typeof TranscriptPage>;

/** A conversation as a fixture: what the model said, and what its tools answered. */
export const Recording = z.strictObject({
  format: z.literal('crewboard-recording'),
  v: z.literal(1),
  taskId: TaskId,
  /** In order, replies that were cut or refused included. */
  replies: z.array(
    z.strictObject({
      content: z.array(ContentBlock),
      stopReason: z.string(),
      usage: Usage,
      /** Given to the call that asks for a summary of what makes room: no turn of the conversation. */
      isSummary: z.boolean().optional(),
    }),
  ),
  results: z.array(z.strictObject({ toolUseId: z.string(), content: z.string(), isError: z.boolean() })),
  /** The tools that never said they would change something: a loop is told by what a conversation has changed. */
  readOnlyTools: z.array(z.string()).default([]),
  /** Those that changed only what the agent says of its own work: no reason to look at anything again. */
  bookkeepingTools: z.array(z.string()).default([]),
  /** How the last call, which has no result, ended the attempt; absent: as done, or it is not known. */
  end: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('done') }),
      z.strictObject({ kind: z.literal('parked'), reason: z.string() }),
      z.strictObject({ kind: z.literal('failed'), class: FailureClass, reason: z.string() }),
    ])
    .optional(),
});
export type Recording = z.infer<typeof Recording>;

/** Names of the journal notes of a compaction: what is to be kept, then what stands for the rest. */
export const COMPACTION_ASKED_NOTE = 'compaction/asked';
export const COMPACTION_DONE_NOTE = 'compaction/done';

/** The tools of Crewboard's agents that only keep books; a journal does not say it. */
export const BOOKKEEPING_TOOLS: readonly string[] = ['board_note', 'todo_write'];

const PAGE_ENTRIES = 50;
const PAGE_CHARACTERS = 4_000_000;

function redacted(value: JsonValue): JsonValue {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== 'object' || value === null) return value;
  const told = new Map<string, JsonValue>();
  for (const [key, inner] of Object.entries(value)) {
    const name = redactText(key);
    // Two fields whose names were secrets stay two.
    told.set(told.has(name) ? `${name} ${told.size + 1}` : name, redacted(inner));
  }
  return Object.fromEntries(told);
}

/** The entry without anything that looks like a key. Thinking is then no longer what its signature stands for. */
export function redactEntry(entry: JournalEntry): JournalEntry {
  return JournalEntry.parse(redacted(z.json().parse(entry)));
}

/** The first entries whose texts have together `PAGE_CHARACTERS` at most, and one at least. */
function fitting(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  let characters = 0;
  const over = entries.findIndex((entry) => {
    characters += JSON.stringify(entry).length;
    return characters > PAGE_CHARACTERS;
  });
  return over < 0 ? entries : entries.slice(0, Math.max(1, over));
}

/**
 * A page of a journal, redacted; `cursor` is the `nextCursor` of the page before. Long entries make a page short.
 * Errors: `invalid_argument`.
 */
export function transcriptPage(
  taskId: string,
  journal: readonly JournalEntry[],
  { cursor, limit = PAGE_ENTRIES }: { cursor?: string | undefined; limit?: number | undefined } = {},
): TranscriptPage {
  const from = placeOf('entries', cursor);
  const entries = fitting(journal.slice(from, from + limit)).map(redactEntry);
  const next = from + entries.length;
  return { taskId, entries, ...(next < journal.length ? { nextCursor: cursorAfter('entries', next) } : {}) };
}

/** The tools whose calls were answered, by whether one was journalled as such that may change something. */
function calledTools(entries: readonly JournalEntry[]): { reads: string[]; changes: string[] } {
  const started = new Set(
    entries.flatMap((entry) => (entry.kind === 'tool.started' ? [entry.toolUseId] : [])),
  );
  const answered = new Set(
    entries.flatMap((entry) => (entry.kind === 'tool.result' ? [entry.toolUseId] : [])),
  );
  const reads = new Set<string>();
  const changes = new Set<string>();
  for (const { type, id, name } of entries.flatMap((entry) =>
    entry.kind === 'reply' ? entry.content : [],
  )) {
    if (type !== 'tool_use' || typeof name !== 'string' || typeof id !== 'string') continue;
    if (started.has(id)) changes.add(name);
    else if (answered.has(id)) reads.add(name);
  }
  return { reads: [...reads].filter((name) => !changes.has(name)), changes: [...changes] };
}

/** What a journal does not say of the conversation that it holds. */
export interface RecordOptions {
  /** Tools that only keep books; by default those of Crewboard's agents. */
  bookkeeping?: readonly string[];
  /** How the last attempt ended, where a tool ended it. */
  end?: AttemptEnd | undefined;
}

/** Makes a fixture of the task's last conversation: all since it last began anew. */
export function recordConversation(
  taskId: string,
  journal: readonly JournalEntry[],
  { bookkeeping = BOOKKEEPING_TOOLS, end }: RecordOptions = {},
): Recording {
  const start = journal.findLastIndex((entry) => entry.kind === 'start' && entry.fresh) + 1;
  const recording: Recording = {
    format: 'crewboard-recording',
    v: 1,
    taskId,
    replies: [],
    results: [],
    readOnlyTools: [],
    bookkeepingTools: [],
    ...(end === undefined ? {} : { end }),
  };
  const entries = journal.slice(start);
  const { reads, changes } = calledTools(entries);
  recording.readOnlyTools = reads;
  recording.bookkeepingTools = changes.filter((name) => bookkeeping.includes(name));
  let asksForSummary = false;
  for (const entry of entries) {
    if (entry.kind === 'note') {
      if (entry.name === COMPACTION_ASKED_NOTE) asksForSummary = true;
      if (entry.name === COMPACTION_DONE_NOTE) asksForSummary = false;
    } else if (entry.kind === 'reply') {
      const { content, stopReason, usage } = entry;
      recording.replies.push({ content, stopReason, usage, ...(asksForSummary ? { isSummary: true } : {}) });
    } else if (entry.kind === 'tool.result') {
      const { toolUseId, content, isError } = entry;
      recording.results.push({ toolUseId, content, isError });
    }
  }
  return recording;
}
