import type { TodoRules } from './validate.ts';

/** Returns what the model reads about the tool; it follows the same rules as the validation. */
export function describeTool(rules: TodoRules): string {
  const active = rules.allowParallelInProgress
    ? 'Several todos may be in_progress when you really work on them at the same time.'
    : 'At most one todo may be in_progress.';
  const forms =
    rules.profile === 'classic'
      ? 'content is imperative ("Run the tests"); activeForm, shown while it is in progress, is progressive ("Running the tests").'
      : 'content is imperative ("Run the tests").';
  return [
    'Keeps your private checklist for the task at hand and shows it as your progress. It does nothing else.',
    'Each call sends the whole list as an array and replaces the old one: items you leave out are gone, [] clears it.',
    'Write the list before complex work of three or more steps; skip it for a single step or a trivial request.',
    `Each todo has content and status (pending, in_progress, completed). ${forms}`,
    active,
    'Set a todo to in_progress before you begin it, to completed at once when it is done, then go on to the next; never batch completions at the end.',
    `At most ${rules.maxItems} todos: group a longer plan into milestones.`,
  ].join('\n');
}
