import { DEFAULT_LIMITS, type DryRunAnswer } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { showDryRun } from '../../apps/cli/src/dry-run.ts';

function anAnswer(fields: Partial<DryRunAnswer> = {}): DryRunAnswer {
  return {
    dryRun: true,
    project: 'default',
    title: 'Docs',
    status: 'running',
    tasks: { total: 1, ready: 1, waiting: 0, held: 0 },
    startsAtOnce: 1,
    first: [{ number: 1, title: 'Read', dependsOn: [] }],
    limits: DEFAULT_LIMITS,
    models: { worker: 'm-small' },
    simulated: false,
    warnings: [],
    ...fields,
  };
}

const PLANNED = {
  status: 'planning',
  tasks: { total: 0, ready: 0, waiting: 0, held: 0 },
  startsAtOnce: 0,
  first: [],
  models: { lead: 'm-big', worker: 'm-small' },
} as const;

test('says of a goal without tasks that a lead plans them, and within which limits', () => {
  const limits = { ...DEFAULT_LIMITS, budgetUsd: 2.5, jobTimeoutMs: 7_200_000 };
  const text = showDryRun(anAnswer({ ...PLANNED, first: [], limits }));
  expect(text).toBe(
    [
      'Docs (project default) would be planning.',
      'A lead plans the tasks: at most 10,000 in all (maxTasks), 8 at once (maxParallel), in at most 50 runs of its own (maxLeadRuns).',
      'A task has 3 attempts (maxAttempts) of 50 turns (maxTurns) and 30 min 0 s (taskTimeoutMs), the job 2 h 0 min (jobTimeoutMs).',
      'Budget: 2.5 USD (budgetUsd), onLimit pause.',
      'Models: m-big (lead), m-small (agents).',
    ].join('\n'),
  );
  expect(showDryRun(anAnswer({ ...PLANNED, first: [] }))).toContain('No budget is set');
});

test('counts tasks that are given, and says that a lead plans more only where there is one', () => {
  expect(showDryRun(anAnswer())).not.toContain('lead');
  const both = showDryRun(anAnswer({ models: { lead: 'm-big', worker: 'm-small' } }));
  expect(both).toContain('1 task: 1 ready, 0 waiting for others; 1 would start at once (maxParallel 8).');
  expect(both).toContain('A lead plans more: at most 10,000 in all (maxTasks)');
});

test('says that no model is asked where there are only commands and people', () => {
  expect(showDryRun(anAnswer({ models: {} }))).toContain('Models: none is asked.');
});

test('says once that a simulated model would answer', () => {
  const warnings = ['the simulated model would answer, not a real one'];
  expect(showDryRun(anAnswer({ simulated: true, warnings })).match(/simulated/g)).toHaveLength(1);
});
