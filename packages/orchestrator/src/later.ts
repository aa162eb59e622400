import { CrewboardError, type JobBody, type JobLimitsPatch, type TaskChanges } from '@crewboard/contracts';

/**
 * Fields that the contracts know and this version does not carry out yet. They are refused, never ignored: a budget
 * that nobody watches is worse than none.
 */
function refuse(path: string, instead: string): never {
  throw new CrewboardError(
    'invalid_argument',
    `${path} is not supported by this version: ${instead}. Nothing was changed.`,
    {
      path,
    },
  );
}

/** Refuses what of a new or changed task is not carried out yet; `path` names it in the error. */
export function refuseLaterTaskFields(task: TaskChanges, path: string): void {
  if (task.limits?.budgetUsd !== undefined) refuse(`${path}.limits.budgetUsd`, 'leave it out');
}

/** Refuses what of a job's limits, at submit or later, is not carried out yet. */
export function refuseLaterLimits(limits: JobLimitsPatch): void {
  for (const name of ['budgetUsd', 'budgetTokens'] as const) {
    if (limits[name] !== undefined) refuse(`limits.${name}`, 'leave it out');
  }
  if (limits.onLimit !== undefined && limits.onLimit !== 'pause') refuse('limits.onLimit', 'leave it out');
}

/** Refuses what of a job's body is not carried out yet. */
export function refuseLaterJobFields(body: JobBody): void {
  if (body.map !== undefined) refuse('map', 'write the tasks out in tasks[]');
  if (body.plan?.approve) refuse('plan.approve', 'leave it out');
  if (body.models?.judge !== undefined) refuse('models.judge', 'leave it out');
  if (body.dryRun) refuse('dryRun', 'leave it out');
  refuseLaterLimits(body.limits ?? {});
  for (const [i, task] of (body.tasks ?? []).entries()) refuseLaterTaskFields(task, `tasks[${i}]`);
}
