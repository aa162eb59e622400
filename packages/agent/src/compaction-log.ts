import { COMPACTION_ASKED_NOTE, COMPACTION_DONE_NOTE, type JournalEntry } from '@crewboard/contracts';
import { z } from 'zod';

/** Turns from this journal index on are kept; `refused`: because a call was refused, and not for being full. */
const AskedData = z.object({ keepFrom: z.number().int().nonnegative(), refused: z.boolean().optional() });
export type CompactionAsked = z.infer<typeof AskedData>;
const DoneData = AskedData.extend({ text: z.string() });

export type ReplyEntry = Extract<JournalEntry, { kind: 'reply' }>;

/** One finished compaction; `text` stands for everything before `keepFrom`. */
export interface Compaction {
  index: number;
  keepFrom: number;
  refused?: boolean | undefined;
  text: string;
}

/** What a journal says of compactions. */
export interface CompactionLog {
  done: readonly Compaction[];
  /** One that was asked for and is not done; with its summary when the model has given it. */
  pending: (CompactionAsked & { summary: ReplyEntry | undefined }) | undefined;
  /** Journal indices of replies that are summaries: no turns of the conversation. */
  summaries: ReadonlySet<number>;
}

/** Reads the compactions of the journal's entries from `start` on. */
export function readCompactions(entries: readonly JournalEntry[], start: number): CompactionLog {
  const done: Compaction[] = [];
  const summaries = new Set<number>();
  let pending: CompactionLog['pending'];
  for (const [index, entry] of entries.entries()) {
    if (index < start) continue;
    // What a failed attempt had begun is history.
    if (entry.kind === 'start' && entry.fresh) pending = undefined;
    if (entry.kind === 'reply' && pending !== undefined) {
      pending = { ...pending, summary: entry };
      summaries.add(index);
    }
    if (entry.kind !== 'note') continue;
    if (entry.name === COMPACTION_ASKED_NOTE) {
      pending = { ...AskedData.parse(entry.data), summary: undefined };
    } else if (entry.name === COMPACTION_DONE_NOTE) {
      done.push({ index, ...DoneData.parse(entry.data) });
      pending = undefined;
    }
  }
  return { done, pending, summaries };
}
