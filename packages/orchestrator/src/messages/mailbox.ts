import { totalsOf } from '@crewboard/agent';
import type { Boards, Hold, PendingMessage } from '@crewboard/board';
import { TURN_START_NOTE } from '@crewboard/checklist';
import type { Journal, JournalEntry, NewJournalEntry } from '@crewboard/contracts';
import { framedText } from '../framed.ts';

/** How a message of a person begins in a conversation. */
const OPENING = '<message id="';

/** A person's message as a model reads it. One that was meant for a task says so to the lead. */
export function messageText({ id, by, to, text }: PendingMessage, reader: string): string {
  const meantFor = to === '' || to === reader ? '' : ` for="${to}"`;
  return framedText(`message id="${id}" from=${JSON.stringify(by)}${meantFor}`, text);
}

/** The messages that a journal's conversations were told, for one that begins anew. */
export function earlierMessages(entries: readonly JournalEntry[]): string[] {
  const texts = entries.flatMap((entry) => (entry.kind === 'message' ? entry.texts : []));
  return [...new Set(texts.filter((text) => text.startsWith(OPENING)))];
}

/**
 * The messages that a conversation was told in turns before the journal index `keepFrom`, oldest first: those that would
 * be lost with the turns. What its opening holds stays.
 */
export function messagesBefore(entries: readonly JournalEntry[], keepFrom: number): string[] {
  const start = entries.findLastIndex((entry) => entry.kind === 'start' && entry.fresh) + 1;
  const first = entries.findIndex((entry, index) => index >= start && entry.kind === 'reply');
  return first < 0 ? [] : earlierMessages(entries.slice(first, keepFrom));
}

/** The messages of people for one attempt's agent. */
export interface Mailbox {
  /**
   * Texts of what waits, to be journalled before the next model call. Asking again before that brings the same: a
   * message counts as delivered by the entry that carries it.
   */
  notices(journal: Journal): Promise<string[]>;
  /** The messages that an entry carries, for the journal to mark in the same step. */
  messagesFor(entry: NewJournalEntry): { ids: string[]; turn: number } | undefined;
}

/** Opens the mailbox of one attempt. */
export function openMailbox(boards: Boards, hold: Hold, attempt: number): Mailbox {
  const told = new Map<string, string>();
  let turn = 0;
  return {
    async notices(journal) {
      const waiting = await boards.pendingMessages(hold.jobId, hold.taskId);
      if (waiting.length === 0) return [];
      turn = totalsOf(journal.entries, attempt).turns + 1;
      told.clear();
      const texts = waiting.map((message) => {
        const text = messageText(message, hold.taskId);
        told.set(text, message.id);
        return text;
      });
      // A person's word begins a new user turn: the checklist's panel starts over.
      await journal.append({ kind: 'note', name: TURN_START_NOTE, data: {} });
      return texts;
    },
    messagesFor(entry) {
      if (entry.kind !== 'message') return undefined;
      const ids = entry.texts.flatMap((text) => told.get(text) ?? []);
      return ids.length === 0 ? undefined : { ids, turn };
    },
  };
}
