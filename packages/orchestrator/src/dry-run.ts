import { withoutAbsent } from '@crewboard/board';
import type { DryRunAnswer, JobBody, JobSpec, JobStatus, NewTask } from '@crewboard/contracts';
import { needsModel } from './settings.ts';
import { wouldBeSimulated } from './simulated.ts';

/** Tasks that the answer shows. */
const FIRST_MOST = 10;

/** A task as it would stand on the board. */
function shown({ title, key, dependsOn = [] }: NewTask, index: number): DryRunAnswer['first'][number] {
  return withoutAbsent({
    number: index + 1,
    title,
    key,
    dependsOn: dependsOn.map((reference) => {
      const { task, condition } =
        typeof reference === 'string' ? { task: reference, condition: undefined } : reference;
      return { task, condition: condition ?? ('completed' as const) };
    }),
  });
}

function warningsOf(spec: JobSpec, body: JobBody, earlier: string | undefined): string[] {
  const warnings: string[] = [];
  if (earlier !== undefined)
    warnings.push(`this Idempotency-Key has made ${earlier}: a submit is answered that job, and makes none`);
  if (wouldBeSimulated(spec, body)) warnings.push('the simulated model would answer, not a real one');
  if (body.hold === true)
    warnings.push('the job would be held: nothing starts before POST /v1/jobs/:id/start');
  else if (spec.plan !== undefined) warnings.push('nothing starts before a person approves the plan');
  return warnings;
}

/** How the tasks would stand: a job that waits for people holds all of them. */
function countsOf(total: number, ready: number, isHeld: boolean): DryRunAnswer['tasks'] {
  if (isHeld) return { total, ready: 0, waiting: 0, held: total };
  return { total, ready, waiting: total - ready, held: 0 };
}

/** What a submit that was checked would do; `earlier`: the job that its Idempotency-Key has made already. */
export function dryRunOf(
  spec: JobSpec,
  body: JobBody,
  status: JobStatus,
  earlier: string | undefined,
): DryRunAnswer {
  const tasks = body.tasks ?? [];
  const ready = tasks.filter(({ dependsOn = [] }) => dependsOn.length === 0);
  const ours = ready.filter(({ executor = 'agent' }) => executor === 'agent' || executor === 'command');
  const { lead, worker } = spec.models;
  const isWaiting = body.hold === true || spec.plan !== undefined;
  const atOnce = spec.allowParallelInProgress ? spec.limits.maxParallel : 1;
  return {
    dryRun: true,
    project: spec.project,
    title: spec.title,
    status,
    tasks: countsOf(tasks.length, ready.length, isWaiting),
    startsAtOnce: isWaiting ? 0 : Math.min(ours.length, atOnce),
    first: tasks.slice(0, FIRST_MOST).map(shown),
    limits: spec.limits,
    models: {
      ...(spec.goal === undefined ? {} : { lead }),
      ...(spec.goal === undefined && !needsModel(tasks) ? {} : { worker }),
    },
    simulated: wouldBeSimulated(spec, body),
    warnings: warningsOf(spec, body, earlier),
  };
}
