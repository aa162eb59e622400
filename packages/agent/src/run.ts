import {
  addUsage,
  type CallSettlement,
  type Journal,
  type JournalEntry,
  type NewJournalEntry,
  NO_USAGE,
  type Tool,
  type Usage,
} from '@crewboard/contracts';
import type { AgentEvent, AgentOptions } from './agent.ts';
import { readCompactions } from './compaction-log.ts';
import { type Conversation, type ReplyEntry, readConversation, type Turn } from './conversation.ts';
import { type LinkedAbort, linkAbort } from './linked-abort.ts';
import { timerMs } from './timers.ts';

/** What the parts of one run share. The journal is the only state: everything else is read from it anew. */
export interface Run {
  options: AgentOptions;
  tools: ReadonlyMap<string, Tool>;
  /** Aborts with the caller's signal, when the time is over, or when `stop` is called. */
  signal: AbortSignal;
  /** True when the time limit, and not the caller, ended the run. */
  timedOut(): boolean;
  /** Stops everything that still runs, such as other tools when the journal is lost. */
  stop(reason: unknown): void;
  append(entry: NewJournalEntry, settles?: CallSettlement): Promise<void>;
  emit(event: AgentEvent): void;
  conversation(): Conversation;
  close(): void;
}

/** Appends of tools that run in parallel go one after the other: the journal checks its expected length. */
function inOrder(journal: Journal): Run['append'] {
  let last: Promise<unknown> = Promise.resolve();
  return (entry, settles) => {
    const appended = last.then(() => journal.append(entry, settles));
    last = appended.catch(() => {});
    return appended;
  };
}

/** Reads the conversation anew only when the journal has grown. */
function readOnce(journal: Journal): () => Conversation {
  let known: { length: number; conversation: Conversation } | undefined;
  const closed = new Map<number, Turn>();
  return () => {
    const { length } = journal.entries;
    if (known?.length !== length) known = { length, conversation: readConversation(journal.entries, closed) };
    return known.conversation;
  };
}

function withTimeLimit(abort: LinkedAbort, timeoutMs: number) {
  let over = false;
  const timer = setTimeout(() => {
    over = !abort.signal.aborted;
    abort.abort(new Error(`the time limit of ${timeoutMs} ms is over`));
  }, timerMs(timeoutMs));
  return { timedOut: () => over, clear: () => clearTimeout(timer) };
}

/** Tells the caller what happens. Listening changes nothing: what a listener throws is its own. */
export function tell(options: AgentOptions, event: AgentEvent): void {
  try {
    const told: unknown = options.emit(event);
    if (told instanceof Promise) told.catch(() => {});
  } catch {
    // The run goes on, and its outcome is what it is.
  }
}

/** Opens a run; `close` must be called when it is over. */
export function openRun(options: AgentOptions): Run {
  const abort = linkAbort(options.signal);
  const time = withTimeLimit(abort, options.limits.timeoutMs);
  return {
    options,
    tools: new Map(options.tools.map((tool) => [tool.name, tool])),
    signal: abort.signal,
    timedOut: time.timedOut,
    stop: abort.abort,
    append: inOrder(options.journal),
    emit: (event) => tell(options, event),
    conversation: readOnce(options.journal),
    close() {
      time.clear();
      abort.release();
    },
  };
}

function isReplyOf(entry: JournalEntry, attempt: number): entry is ReplyEntry {
  return entry.kind === 'reply' && entry.attempt === attempt;
}

/** The turns and tokens of one attempt so far; dropped replies count, they were paid for; summaries are no turns. */
export function totalsOf(entries: readonly JournalEntry[], attempt: number): { turns: number; usage: Usage } {
  const { summaries } = readCompactions(entries, 0);
  const turns = entries.filter((entry, at) => isReplyOf(entry, attempt) && !summaries.has(at)).length;
  const replies = entries.filter((entry) => isReplyOf(entry, attempt));
  return { turns, usage: replies.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE) };
}
