import type { JournalEntry, NewJournalEntry } from '@crewboard/contracts';
import { z } from 'zod';
import { TODO_STATUSES, type Todo } from './todos.ts';

/** Names of the journal notes that the panel is derived from; notes never enter the model's messages. */
export const TODO_WRITE_NOTE = 'todo/write';
export const TURN_START_NOTE = 'turn/start';
export const TURN_END_NOTE = 'turn/end';

const WriteData = z.object({
  todos: z.array(
    z.object({ content: z.string(), status: z.enum(TODO_STATUSES), activeForm: z.string().optional() }),
  ),
});

/** The `todo/write` entry that an accepted list leaves in the log. */
export function todoWriteEntry(todos: readonly Todo[]): NewJournalEntry {
  const kept = todos.map(({ activeForm, ...todo }) =>
    activeForm === undefined ? todo : { ...todo, activeForm },
  );
  return { kind: 'note', name: TODO_WRITE_NOTE, data: { todos: kept } };
}

/**
 * The items that are still to be done since the last fresh start, as plain lines with their marks: those of the last
 * list that was written. Unlike the panel, which a person's message clears, work is not over because somebody spoke.
 */
export function unfinishedWork(entries: readonly PanelEntry[]): string[] {
  const isSpoken = (entry: PanelEntry) => entry.kind === 'note' && entry.name === TURN_START_NOTE;
  return unfinishedLines(projectTodos(entries.filter((entry) => !isSpoken(entry))));
}

/** The items that are still to be done, as plain lines with their marks. */
export function unfinishedLines(todos: readonly Todo[] | null): string[] {
  const open = (todos ?? []).filter(({ status }) => status !== 'completed');
  return open.map(({ content, status }) => `${status === 'in_progress' ? '[>]' : '[ ]'} ${content}`);
}

/** The part of a log entry that the projection reads; every journal entry has it. */
export type PanelEntry =
  | Pick<Extract<JournalEntry, { kind: 'start' }>, 'kind' | 'fresh'>
  | Pick<Extract<JournalEntry, { kind: 'note' }>, 'kind' | 'name' | 'data'>
  | { kind: Exclude<JournalEntry['kind'], 'start' | 'note'> };

function next(list: readonly Todo[] | null, entry: PanelEntry): readonly Todo[] | null {
  if (entry.kind === 'start') return entry.fresh ? null : list;
  if (entry.kind !== 'note') return list;
  if (entry.name === TURN_START_NOTE) return null;
  if (entry.name !== TODO_WRITE_NOTE) return list;
  const data = WriteData.safeParse(entry.data);
  return data.success ? data.data.todos : list;
}

/**
 * Returns the checklist that the log stands for: the last `todo/write`, or null before the first one, after a
 * `turn/start` (a person's message) and after a fresh start. `turn/end` keeps it.
 */
export function projectTodos(entries: readonly PanelEntry[]): readonly Todo[] | null {
  return entries.reduce<readonly Todo[] | null>(next, null);
}
