import { CrewboardError, type JobBody, type NewTask } from '@crewboard/contracts';

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

/** Refuses what of a task is not carried out yet; `path` names it in the error. */
export function refuseLaterTaskFields(task: NewTask, path: string): void {
  if (task.policy === 'checked') refuse(`${path}.policy`, 'use "none", "evidence" or "approved"');
  if (task.outputSchema !== undefined) refuse(`${path}.outputSchema`, 'state the form in instructions');
  if (task.acceptance?.some((item) => item.check !== undefined)) {
    refuse(`${path}.acceptance.check`, 'state the check as text');
  }
}

/** Refuses what of a job's body is not carried out yet. */
export function refuseLaterJobFields(body: JobBody): void {
  if (body.map !== undefined) refuse('map', 'write the tasks out in tasks[]');
  if (body.plan?.approve) refuse('plan.approve', 'leave it out');
  if (body.models?.judge !== undefined) refuse('models.judge', 'leave it out');
  if (body.outputSchema !== undefined) refuse('outputSchema', 'state the form in the goal');
  if (body.hold) refuse('hold', 'submit all tasks at once');
  if (body.dryRun) refuse('dryRun', 'leave it out');
  for (const name of ['maxFailures', 'jobTimeoutMs'] as const) {
    if (body.limits?.[name] !== undefined) refuse(`limits.${name}`, 'leave it out');
  }
  for (const [i, task] of (body.tasks ?? []).entries()) refuseLaterTaskFields(task, `tasks[${i}]`);
}
