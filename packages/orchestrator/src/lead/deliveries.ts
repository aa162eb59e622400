import type { NewJournalEntry } from '@crewboard/contracts';
import { type Inbox, inboxShown } from './inbox.ts';

/**
 * Knows which text carries which news, so that the journal moves the lead's cursor in the same step as it stores the
 * message: news is delivered exactly when the model is sure to see it.
 */
export interface Deliveries {
  /** Notes that `text` (or, absent, the inbox's own text) brings the news up to the inbox's cursor; returns the text. */
  carry(inbox: Inbox, text?: string): string;
  /** The cursor that an entry brings, if it carries news. */
  cursorFor(entry: NewJournalEntry): string | undefined;
}

/** Makes the deliveries of one run of a lead. */
export function createDeliveries(): Deliveries {
  const cursors = new Map<string, string>();
  return {
    carry(inbox, text = JSON.stringify(inboxShown(inbox))) {
      cursors.set(text, inbox.cursor);
      return text;
    },
    cursorFor(entry) {
      if (entry.kind === 'tool.result') return cursors.get(entry.content);
      if (entry.kind !== 'message') return undefined;
      return entry.texts.map((text) => cursors.get(text)).find((cursor) => cursor !== undefined);
    },
  };
}
