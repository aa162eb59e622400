import type { DryRunAnswer } from '@crewboard/contracts';
import { plural, safeLine } from './text.ts';

const TITLE_COLUMNS = 120;

/** What a submit would do, for people: the job, its first tasks, warnings. */
export function showDryRun(answer: DryRunAnswer): string {
  const { tasks, first, models, limits, warnings } = answer;
  const called = models.lead === undefined ? models.worker : `${models.lead} (lead), ${models.worker}`;
  const lines = first.map(({ number, title, key, dependsOn }) => {
    const named = key === undefined ? '' : ` [${safeLine(key, TITLE_COLUMNS)}]`;
    const names = dependsOn.map(({ task }) => task).join(', ');
    const after = names === '' ? '' : ` after ${safeLine(names, TITLE_COLUMNS)}`;
    return `- #${number} ${safeLine(title, TITLE_COLUMNS)}${named}${after}`;
  });
  const more = tasks.total > first.length ? [`... and ${tasks.total - first.length} more`] : [];
  return [
    `${safeLine(answer.title, TITLE_COLUMNS)} (project ${answer.project}) would be ${answer.status}.`,
    `${plural(tasks.total, 'task')}: ${tasks.ready} ready, ${tasks.waiting} waiting for others; ${answer.startsAtOnce} would start at once (maxParallel ${limits.maxParallel}).`,
    `Models: ${safeLine(called, TITLE_COLUMNS)}${answer.simulated ? ' (simulated)' : ''}.`,
    ...lines,
    ...more,
    ...warnings.map((warning) => `Warning: ${safeLine(warning)}`),
  ].join('\n');
}
