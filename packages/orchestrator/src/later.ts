import { CrewboardError, type JobBody, type TaskChanges } from '@crewboard/contracts';

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
  if (task.executor === 'command') refuse(`${path}.executor`, 'use "agent", "external" or "human"');
  if (task.command !== undefined) refuse(`${path}.command`, 'leave it out');
  if (task.policy === 'checked') refuse(`${path}.policy`, 'use "none", "evidence" or "approved"');
  if (task.outputSchema !== undefined) refuse(`${path}.outputSchema`, 'state the form in instructions');
  if (task.acceptance?.some((item) => item.check !== undefined)) {
    refuse(`${path}.acceptance.check`, 'state the check as text');
  }
  if (task.limits?.budgetUsd !== undefined) refuse(`${path}.limits.budgetUsd`, 'leave it out');
}

/** Refuses what of a job's body is not carried out yet. */
export function refuseLaterJobFields(body: JobBody): void {
  if (body.map !== undefined) refuse('map', 'write the tasks out in tasks[]');
  if (body.plan?.approve) refuse('plan.approve', 'leave it out');
  if (body.models?.judge !== undefined) refuse('models.judge', 'leave it out');
  if (body.outputSchema !== undefined) refuse('outputSchema', 'state the form in the goal');
  if (body.hold) refuse('hold', 'submit all tasks at once');
  if (body.dryRun) refuse('dryRun', 'leave it out');
  for (const name of ['budgetUsd', 'budgetTokens', 'maxFailures', 'jobTimeoutMs'] as const) {
    if (body.limits?.[name] !== undefined) refuse(`limits.${name}`, 'leave it out');
  }
  if (body.limits?.onLimit !== undefined && body.limits.onLimit !== 'pause') {
    refuse('limits.onLimit', 'leave it out');
  }
  const later = body.tools?.find((tool) => !['read_file', 'list_files', 'search_files'].includes(tool));
  if (later !== undefined) refuse(`tools (${later})`, 'use read_file, list_files and search_files');
  for (const [i, task] of (body.tasks ?? []).entries()) refuseLaterTaskFields(task, `tasks[${i}]`);
}
