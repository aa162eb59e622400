import type { Run } from './run.ts';

/** At this share of its turns the model is told to come to an end. */
const WRAP_UP_SHARE = 0.8;

/** The text that tells the model how few turns are left, when that has to be said now and was not said before. */
export function wrapUpTexts(run: Run, turns: number): string[] {
  const { attempt, journal, limits } = run.options;
  if (turns === 0 || turns !== Math.ceil(limits.maxTurns * WRAP_UP_SHARE)) return [];
  const text = `${turns} of ${limits.maxTurns} turns are used. Wrap up: finish what is begun, start nothing new, and end your work with what you have.`;
  const said = journal.entries.some(
    (entry) => entry.kind === 'message' && entry.attempt === attempt && entry.texts.includes(text),
  );
  return said ? [] : [text];
}
