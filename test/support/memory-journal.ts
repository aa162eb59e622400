import {
  type CrewboardError,
  JOURNAL_FORMAT,
  type Journal,
  JournalEntry,
  type NewJournalEntry,
} from '../../packages/contracts/src/index.ts';

/** Where a journal breaks: at which append of this attempt (from 1), and whether that entry was still stored. */
export interface JournalBreak {
  atAppend: number;
  stored: boolean;
  error: CrewboardError;
}

/** A journal in memory that keeps the rules of the real one: fenced, strict entries, one append at a time. */
export interface MemoryJournal extends Journal {
  readonly entries: readonly JournalEntry[];
  /** How often `append` was called. */
  readonly appends: number;
}

/** Makes the journal as attempt `attempt` holds it, over what earlier attempts wrote. */
export function memoryJournal(
  attempt: number,
  earlier: readonly JournalEntry[] = [],
  broken?: JournalBreak,
): MemoryJournal {
  const entries: JournalEntry[] = structuredClone([...earlier]);
  let appends = 0;
  let busy = false;
  const store = (entry: NewJournalEntry) => {
    const whole = { v: JOURNAL_FORMAT, id: `${attempt}-${appends}`, attempt, ...structuredClone(entry) };
    entries.push(JournalEntry.parse(whole));
  };
  return {
    entries,
    get appends() {
      return appends;
    },
    async append(entry) {
      if (busy) throw new Error('two appends at a time: the expected length would not match');
      busy = true;
      appends++;
      try {
        await new Promise((resolve) => setImmediate(resolve));
        const breaks = broken !== undefined && appends >= broken.atAppend;
        if (!breaks || (appends === broken.atAppend && broken.stored)) store(entry);
        if (breaks) throw broken.error;
      } finally {
        busy = false;
      }
    },
  };
}
