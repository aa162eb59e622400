import type { ContentBlock, JournalEntry } from '@crewboard/contracts';
import { type CompactionLog, type ReplyEntry, readCompactions } from './compaction-log.ts';

export type { ReplyEntry } from './compaction-log.ts';
export type ResultEntry = Extract<JournalEntry, { kind: 'tool.result' }>;

/** A call of a tool of ours inside a reply. */
export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
}

/** A reply and everything up to the next one. */
export interface Turn {
  reply: ReplyEntry;
  /** The reply's place in the journal: part of the requestIds of its calls. */
  index: number;
  /** In the order of the reply; empty when the reply is dropped. */
  calls: readonly ToolCall[];
  /** By toolUseId; the first result of a call is the one that counts. */
  results: ReadonlyMap<string, ResultEntry>;
  started: ReadonlySet<string>;
  texts: readonly string[];
}

/** What the model is to see: the texts before the first turn, and the turns. */
export interface Spoken {
  opening: readonly string[];
  turns: readonly Turn[];
}

/**
 * The conversation that a journal stands for: everything since its last fresh start, less what the last compaction
 * left out, whose text then ends the opening.
 */
export interface Conversation extends Spoken {
  compactions: CompactionLog;
}

/** Replies that never go back to the model, and whose calls never run: what was cut, and what was refused. */
const DROPPED_REASONS: ReadonlySet<string> = new Set([
  'max_tokens',
  'refusal',
  'model_context_window_exceeded',
]);

/** True for a reply that is left out of the conversation because of its stop reason. */
export function isDropped(reply: ReplyEntry): boolean {
  return DROPPED_REASONS.has(reply.stopReason);
}

/** True for a text block that the API would refuse to take back. */
export function isBlankText(block: ContentBlock): boolean {
  return block.type === 'text' && (typeof block.text !== 'string' || block.text.trim() === '');
}

/** True for thinking, which can't stand alone in a message. */
export function isThinking(block: ContentBlock): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

function callsOf(reply: ReplyEntry): ToolCall[] {
  if (isDropped(reply)) return [];
  return reply.content.flatMap(({ type, id, name, input }) =>
    type === 'tool_use' && typeof id === 'string' && typeof name === 'string' ? [{ id, name, input }] : [],
  );
}

function readTurn(reply: ReplyEntry, index: number, following: readonly JournalEntry[]): Turn {
  const calls = callsOf(reply);
  const called = new Set(calls.map((call) => call.id));
  const results = new Map<string, ResultEntry>();
  const started = new Set<string>();
  for (const entry of following) {
    if (entry.kind === 'tool.started') started.add(entry.toolUseId);
    if (entry.kind !== 'tool.result' || !called.has(entry.toolUseId)) continue;
    if (!results.has(entry.toolUseId)) results.set(entry.toolUseId, entry);
  }
  return { reply, index, calls, results, started, texts: textsOf(following) };
}

function textsOf(entries: readonly JournalEntry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'message' ? entry.texts : []));
}

/**
 * Reads a journal into turns; entries of unknown use are passed over. `closed` keeps the turns that a later reply has
 * closed, by their index, for the next reading of the same journal: journals only grow, so these never change.
 */
export function readConversation(
  entries: readonly JournalEntry[],
  closed: Map<number, Turn> = new Map(),
): Conversation {
  const start = entries.findLastIndex((entry) => entry.kind === 'start' && entry.fresh) + 1;
  const compactions = readCompactions(entries, start);
  const replies = entries.flatMap((entry, index) =>
    entry.kind === 'reply' && index >= start && !compactions.summaries.has(index)
      ? [{ reply: entry, index }]
      : [],
  );
  const turns = replies.map(({ reply, index }, at) => {
    const end = replies[at + 1]?.index;
    const turn = closed.get(index) ?? readTurn(reply, index, entries.slice(index + 1, end));
    if (end !== undefined) closed.set(index, turn);
    return turn;
  });
  const opening = textsOf(entries.slice(start, replies[0]?.index));
  return { ...compacted({ opening, turns }, compactions), compactions };
}

/** The calls of a journal's last turn that no result answers yet, in their order. */
export function openCalls(entries: readonly JournalEntry[]): ToolCall[] {
  const last = readConversation(entries).turns.at(-1);
  return last === undefined ? [] : last.calls.filter(({ id }) => !last.results.has(id));
}

/** Leaves out what the last compaction stands for; texts that came after all that it left out are kept. */
function compacted({ opening, turns }: Spoken, { done }: CompactionLog): Spoken {
  const last = done.at(-1);
  if (last === undefined) return { opening, turns };
  const kept = turns.filter(({ index }) => index >= last.keepFrom);
  const lastCut = turns.findLast(({ index }) => index < last.keepFrom);
  const keptBefore = kept.some(({ index }) => index < last.index);
  return {
    opening: [...opening, last.text, ...(keptBefore ? [] : (lastCut?.texts ?? []))],
    turns: kept,
  };
}
