import { withoutAbsent } from '@crewboard/board';
import { type DryRunAnswer, type JobBody, type NewTask, newJobId } from '@crewboard/contracts';
import { checkJob, type SpecDependencies } from './check-job.ts';
import type { Scope } from './service.ts';
import { statusAfter } from './submit-job.ts';

/** Tasks that a preview shows. */
const SHOWN_MOST = 10;

function shown(task: NewTask, index: number): DryRunAnswer['first'][number] {
  const { key, title, executor = 'agent', dependsOn = [] } = task;
  const named = dependsOn.map((reference) => (typeof reference === 'string' ? reference : reference.task));
  return withoutAbsent({
    number: index + 1,
    key,
    title,
    executor,
    dependsOn: named.length === 0 ? undefined : named,
  });
}

/**
 * Returns what a submit of a body would do, found by the very checks of the submit; nothing is stored. Errors: those
 * of the submit, but for its Idempotency-Key.
 */
export function createPreviewJob(dependencies: SpecDependencies) {
  return async (scope: Scope, body: JobBody): Promise<DryRunAnswer> => {
    const { spec, tasks } = await checkJob(scope, body, newJobId(), dependencies);
    const { project, title, models, limits, tools, workspace, provider } = spec;
    return withoutAbsent({
      dryRun: true as const,
      project,
      title,
      status: statusAfter(body),
      simulated: provider === 'simulated',
      models,
      limits,
      tools,
      workspace,
      tasks: {
        total: tasks.length,
        ready: tasks.filter(({ dependsOn = [] }) => dependsOn.length === 0).length,
      },
      first: tasks.slice(0, SHOWN_MOST).map(shown),
    });
  };
}
