import {
  type CallSettlement,
  CrewboardError,
  JOURNAL_FORMAT,
  type Journal,
  JournalEntry,
  type NewJournalEntry,
  newSecret,
  tokensOf,
} from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { packUsage, settleCall } from './budgets.ts';
import type { Hold } from './holder-calls.ts';
import { parseReply } from './replies.ts';
import { journalParts } from './retention.ts';
import { withoutAbsent } from './without-absent.ts';

const AppendReply = z.tuple([z.enum(['ok', 'already', 'conflict']), z.number()]);

/** Growth of a conversation: what makes an attempt that ended by expiry no strike. */
function isGrowth(entry: NewJournalEntry): boolean {
  return entry.kind === 'reply' || (entry.kind === 'tool.result' && !entry.isError);
}

function usageOf(entry: NewJournalEntry): string {
  if (entry.kind !== 'reply') return '';
  return packUsage(entry.usage);
}

/** The call that a reply settles, in the form of the script. */
function settlementOf(entry: NewJournalEntry, settles: CallSettlement | undefined) {
  if (entry.kind !== 'reply' || settles === undefined) return ['', 0, 0];
  return [settles.callId, settles.nanoUsd, tokensOf(entry.usage)];
}

/** What an entry tells its model, for the script: nothing, news up to a cursor, messages. */
function toldBy(entry: NewJournalEntry, { cursorFor, messagesFor }: JournalOptions): string {
  const cursor = cursorFor?.(entry);
  const messages = messagesFor?.(entry);
  if (cursor === undefined && messages === undefined) return '';
  return JSON.stringify(withoutAbsent({ cursor, messages: messages?.ids, turn: messages?.turn }));
}

export interface JournalOptions {
  attempt: number;
  /**
   * For the lead: called for each entry about to be appended; an event ID moves its inbox cursor there in the same
   * step, so that news counts as delivered exactly when the message that carries it is durable.
   */
  cursorFor?: (entry: NewJournalEntry) => string | undefined;
  /**
   * Called for each entry about to be appended: the messages of people whose texts it carries, and the turn in which
   * the model will see them. They count as delivered in the same step.
   */
  messagesFor?: (entry: NewJournalEntry) => { ids: string[]; turn: number } | undefined;
}

/** Reads journals that have left Redis: what was stored, one entry a line. Errors: `not_found`. */
export type ReadStoredJournal = (jobId: string, sha256: string) => Promise<string>;

/** Without a store nothing is read in its place: a conversation that looked empty would begin anew. */
export const noStoredJournals: ReadStoredJournal = async () => {
  throw new CrewboardError('unavailable', 'this journal has left Redis, and no store is known here.');
};

/** How often a journal is read whose stored part was replaced in that moment. */
const READ_TRIES = 3;

/** Parses a journal's entries of one JSON text each. Errors: `unavailable`. */
export function parseJournal(taskId: string, texts: readonly string[]): JournalEntry[] {
  return texts.map((text, i) => {
    const parsed = JournalEntry.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
    throw new CrewboardError(
      'unavailable',
      `entry ${i} of the journal of ${taskId} can't be read by this version.`,
    );
  });
}

/** The entries of a stored journal, as they were put. */
export function storedEntries(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

/** The durable conversations of tasks: the list in Redis, after the part that has left for the store, if any has. */
export function journalStore(io: BoardIo, readStored: ReadStoredJournal) {
  /** All entries, and how many of them are in Redis no more. */
  async function readParts(jobId: string, taskId: string) {
    for (let tries = 1; ; tries++) {
      const { stored, entries } = await journalParts(io, jobId, taskId);
      if (stored === undefined) return { entries: parseJournal(taskId, entries), before: 0 };
      try {
        const texts = storedEntries(await readStored(jobId, stored.sha256));
        return { entries: parseJournal(taskId, [...texts, ...entries]), before: texts.length };
      } catch (error) {
        const isGone = error instanceof CrewboardError && error.code === 'not_found';
        if (!isGone) throw error;
        // Replaced by a longer one meanwhile, or lost.
        if (tries === READ_TRIES)
          throw new CrewboardError(
            'not_found',
            `the journal of ${taskId} is not in the artifact store: is CREWBOARD_DATA_DIR the folder that wrote it?`,
            { retry: 'never' },
          );
      }
    }
  }
  const read = async (jobId: string, taskId: string) => (await readParts(jobId, taskId)).entries;

  return {
    /** A task's journal as stored. */
    readJournal: read,

    /**
     * Opens the journal for one attempt: what is there, and fenced appends. Appends stand in line, so that callers
     * beside each other (tools, the loop) never meet a length that moved under them.
     */
    async openJournal(hold: Hold, options: JournalOptions): Promise<Journal> {
      const { entries, before } = await readParts(hold.jobId, hold.taskId);
      const appendNext = createAppend(io, hold, options, entries, before);
      let line: Promise<void> = Promise.resolve();
      return {
        entries,
        append(entry, settles) {
          const appended = line.then(() => appendNext(entry, settles));
          line = appended.catch(() => {});
          return appended;
        },
      };
    },
  };
}

/**
 * The fenced append of one attempt; `entries` is what the journal holds, and grows with each. `before`: how many of them
 * have left Redis, which can't change while an attempt is live.
 */
function createAppend(
  io: BoardIo,
  hold: Hold,
  options: JournalOptions,
  entries: JournalEntry[],
  before: number,
) {
  const { attempt } = options;
  // Of this attempt, also from before a fence: a call that was started and not answered yet.
  const openTools = new Set<string>();
  for (const entry of entries) {
    if (entry.attempt !== attempt) continue;
    if (entry.kind === 'tool.started') openTools.add(entry.toolUseId);
    if (entry.kind === 'tool.result') openTools.delete(entry.toolUseId);
  }
  const append = async (entry: NewJournalEntry, settles: CallSettlement | undefined): Promise<void> => {
    const full = JournalEntry.parse({ v: JOURNAL_FORMAT, id: newSecret(), attempt, ...entry });
    const opens = entry.kind === 'tool.started' ? 1 : 0;
    const closes = entry.kind === 'tool.result' && openTools.has(entry.toolUseId) ? 1 : 0;
    const args = [
      hold.taskId,
      hold.token,
      entries.length - before,
      full.id,
      JSON.stringify(full),
      isGrowth(entry) ? 1 : 0,
      opens - closes,
      entry.kind === 'start' && entry.fresh ? 1 : 0,
      usageOf(entry),
      toldBy(entry, options),
      ...settlementOf(entry, settles),
    ];
    const [word, length] = parseReply(
      await io.run(hold.jobId, 'journal_append', args, hold.taskId),
      AppendReply,
    );
    if (word === 'conflict') {
      throw new CrewboardError(
        'lease_lost',
        `the journal of ${hold.taskId} has ${before + length} entries, not ${entries.length}: another attempt wrote to it.`,
      );
    }
    if (entry.kind === 'tool.started') openTools.add(entry.toolUseId);
    if (entry.kind === 'tool.result') openTools.delete(entry.toolUseId);
    entries.push(full);
  };
  return (entry: NewJournalEntry, settles?: CallSettlement): Promise<void> =>
    append(entry, settles).catch(async (error: unknown) => {
      await settleLate(io, hold, entry, settles, error);
      throw error;
    });
}

/**
 * A reply that came after its attempt was over stands in no journal, but it was paid for. When that can't be booked
 * either, the end of the attempt has booked the call at its worst case.
 */
async function settleLate(
  io: BoardIo,
  hold: Hold,
  entry: NewJournalEntry,
  settles: CallSettlement | undefined,
  error: unknown,
): Promise<void> {
  const isOver = error instanceof CrewboardError && ['lease_lost', 'terminal'].includes(error.code);
  if (!isOver || settles === undefined || entry.kind !== 'reply') return;
  const cost = { kind: 'settled' as const, nanoUsd: settles.nanoUsd, usage: entry.usage };
  await settleCall(io, hold, settles.callId, cost).catch(() => {});
}
