import type { Run } from './run.ts';

/** At this share of its turns, or of its budget, the model is told to come to an end. */
const WRAP_UP_SHARE = 0.8;

const WRAP_UP = 'Wrap up: finish what is begun, start nothing new, and end your work with what you have.';
const BUDGET_TEXT = `${WRAP_UP_SHARE * 100} % of the budget is spent. ${WRAP_UP}`;

/** After so many turns the model is told: always before the last one, never when there is only one. */
function wrapUpAt(maxTurns: number): number {
  return Math.min(Math.ceil(maxTurns * WRAP_UP_SHARE), maxTurns - 1);
}

/** The texts that tell the model how little is left, when that has to be said now and was not said before. */
export function wrapUpTexts(run: Run, turns: number): string[] {
  const { attempt, budget, journal, limits } = run.options;
  const texts: string[] = [];
  if (turns > 0 && turns === wrapUpAt(limits.maxTurns)) {
    texts.push(`${turns} of ${limits.maxTurns} turns are used. ${WRAP_UP}`);
  }
  if (budget !== undefined && budget.usedShare() >= WRAP_UP_SHARE) texts.push(BUDGET_TEXT);
  const isSaid = (text: string) =>
    journal.entries.some(
      (entry) => entry.kind === 'message' && entry.attempt === attempt && entry.texts.includes(text),
    );
  return texts.filter((text) => !isSaid(text));
}
