import type { DryRunAnswer } from '@crewboard/contracts';
import { safeLine, table } from './text.ts';

/** Returns what a submit would do, for a person. */
export function showPreview(preview: DryRunAnswer): string {
  const { tasks, first, limits, models, workspace } = preview;
  const budget = limits.budgetUsd === undefined ? 'no budget' : `at most $${limits.budgetUsd}`;
  const lines = [
    `${safeLine(preview.title, 80)} (project ${preview.project}) would be ${preview.status}; nothing was stored.`,
    `  Tasks     ${tasks.total}, of which ${tasks.ready} depend on no other`,
    `  Models    ${preview.simulated ? 'SIMULATED' : `lead ${models.lead}, tasks ${models.worker}`}`,
    `  Limits    ${limits.maxParallel} at once, ${limits.maxAttempts} attempts each, ${budget}`,
    ...(workspace === undefined ? [] : [`  Workspace ${safeLine(workspace.path, 200)}`]),
  ];
  if (first.length === 0) return lines.join('\n');
  const rows = first.map(({ number, key = '', title, dependsOn = [] }) => [
    number,
    safeLine(key, 30),
    safeLine(title, 60),
    safeLine(dependsOn.join(', '), 40),
  ]);
  const more = tasks.total - first.length;
  return [
    ...lines,
    '',
    table([['#', 'KEY', 'TITLE', 'DEPENDS ON'], ...rows]),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join('\n');
}
