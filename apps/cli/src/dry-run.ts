import type { DryRunAnswer, JobLimits } from '@crewboard/contracts';
import { duration, plural, safeLine } from './text.ts';

const TITLE_COLUMNS = 120;

const number = (value: number) => value.toLocaleString('en');

/** What is spent at most, and what happens then. */
function budgetLine({ budgetUsd, budgetTokens, onLimit }: JobLimits): string {
  const budgets = [
    ...(budgetUsd === undefined ? [] : [`${budgetUsd} USD (budgetUsd)`]),
    ...(budgetTokens === undefined ? [] : [`${number(budgetTokens)} tokens (budgetTokens)`]),
  ];
  if (budgets.length === 0) return 'No budget is set: limits.budgetUsd or limits.budgetTokens would be one.';
  return `Budget: ${budgets.join(' and ')}, onLimit ${onLimit}.`;
}

/** What a lead may do that nobody has seen yet. */
function leadLines(limits: JobLimits, given: number): string[] {
  const { maxTasks, maxParallel, maxLeadRuns, maxAttempts, maxTurns, taskTimeoutMs, jobTimeoutMs } = limits;
  const plans = given === 0 ? 'A lead plans the tasks' : 'A lead plans more';
  const job = jobTimeoutMs === undefined ? '' : `, the job ${duration(jobTimeoutMs)} (jobTimeoutMs)`;
  return [
    `${plans}: at most ${number(maxTasks)} in all (maxTasks), ${number(maxParallel)} at once (maxParallel), in at most ${number(maxLeadRuns)} runs of its own (maxLeadRuns).`,
    `A task has ${plural(maxAttempts, 'attempt')} (maxAttempts) of ${plural(maxTurns, 'turn')} (maxTurns) and ${duration(taskTimeoutMs)} (taskTimeoutMs)${job}.`,
    budgetLine(limits),
  ];
}

/** The tasks that the submit gives, unless a lead plans all of them. */
function taskLines({ tasks, first, startsAtOnce, limits }: DryRunAnswer): string[] {
  const lines = first.map(({ number: at, title, key, dependsOn }) => {
    const named = key === undefined ? '' : ` [${safeLine(key, TITLE_COLUMNS)}]`;
    const names = dependsOn.map(({ task }) => task).join(', ');
    const after = names === '' ? '' : ` after ${safeLine(names, TITLE_COLUMNS)}`;
    return `- #${at} ${safeLine(title, TITLE_COLUMNS)}${named}${after}`;
  });
  const stand =
    tasks.held > 0
      ? `all held until a person lets them start`
      : `${tasks.ready} ready, ${tasks.waiting} waiting for others; ${startsAtOnce} would start at once (maxParallel ${limits.maxParallel})`;
  const more = tasks.total > first.length ? [`... and ${tasks.total - first.length} more`] : [];
  return [`${plural(tasks.total, 'task')}: ${stand}.`, ...lines, ...more];
}

/** What a submit would do, for people: the job, its first tasks, what its lead may add, warnings. */
export function showDryRun(answer: DryRunAnswer): string {
  const { tasks, models, limits, warnings } = answer;
  const hasLead = models.lead !== undefined;
  const called = [
    ...(hasLead ? [`${models.lead} (lead)`] : []),
    ...(models.worker === undefined ? [] : [`${models.worker} (agents)`]),
  ];
  return [
    `${safeLine(answer.title, TITLE_COLUMNS)} (project ${answer.project}) would be ${answer.status}.`,
    ...(hasLead && tasks.total === 0 ? [] : taskLines(answer)),
    ...(hasLead ? leadLines(limits, tasks.total) : []),
    `Models: ${called.length === 0 ? 'none is asked' : safeLine(called.join(', '), TITLE_COLUMNS)}.`,
    // Whether a simulated model would answer is one of them.
    ...warnings.map((warning) => `Warning: ${safeLine(warning)}`),
  ].join('\n');
}
