import { isTodoTool } from './todos.ts';

/** The text of the reminder block: the last one of the user message that carries the tool results. */
export const REMINDER_TEXT = '<reminder>Update your todos.</reminder>';

/** After so many rounds without the checklist the model is reminded. */
export const REMINDER_ROUNDS = 3;

export interface ReminderStep {
  /** Rounds since the checklist was used or the model was reminded. */
  counter: number;
  /** True when the reminder goes into this round's user message. */
  remind: boolean;
}

/**
 * Counts one round. A round is one loop iteration that called tools, however many: `toolNames` are the names it
 * called, at least one. Any checklist call in it, accepted or refused, starts the count anew.
 */
export function countRound(counter: number, toolNames: readonly string[]): ReminderStep {
  if (toolNames.some(isTodoTool)) return { counter: 0, remind: false };
  const rounds = counter + 1;
  return rounds >= REMINDER_ROUNDS ? { counter: 0, remind: true } : { counter: rounds, remind: false };
}
