import { checkStaged } from '@crewboard/board';
import {
  CrewboardError,
  DEFAULT_LIMITS,
  type JobBody,
  type JobLimits,
  type JobSpec,
  type NewTask,
  type WorkToolName,
} from '@crewboard/contracts';
import type { CheckRules } from './checks/check-rules.ts';
import { refuseUnfitCommands } from './command-tasks.ts';
import { type GivenTasks, givenCount, givenTasks } from './given-tasks.ts';
import { modelsOf, modelsOfJob, pricesOf, refuseUnpriced } from './prices.ts';
import type { Scope } from './service.ts';
import { defaultProvider, needsModel, noModel, type Settings } from './settings.ts';
import { checkWorkspace } from './workspace-root.ts';

const READ_ONLY_TOOLS: WorkToolName[] = ['list_files', 'read_file', 'search_files'];
/** Tasks that a job's body may bring; more can be added once it runs. */
const TASKS_MOST = 100_000;

/** What a body is checked against. */
export interface SpecDependencies {
  settings: Settings;
  checkRules: CheckRules;
}

/** The project that a submit is for. Throws `forbidden` for one that the key does not belong to. */
export function projectOf(scope: Scope, body: JobBody): string {
  if (scope.project === '*') return body.project ?? 'default';
  if (body.project !== undefined && body.project !== scope.project) {
    throw new CrewboardError('forbidden', `this key belongs to project ${scope.project}`);
  }
  return scope.project;
}

function limitsOf(body: JobBody): JobLimits {
  const limits = { ...DEFAULT_LIMITS };
  for (const [name, value] of Object.entries(body.limits ?? {})) {
    if (value !== undefined) Object.assign(limits, { [name]: value });
  }
  const tasks = givenCount(body);
  const most = Math.min(limits.maxTasks, TASKS_MOST);
  if (tasks > most) {
    const bound =
      most === TASKS_MOST ? `a job may bring ${TASKS_MOST}` : `limits.maxTasks is ${limits.maxTasks}`;
    throw new CrewboardError(
      'limit_exceeded',
      `the job has ${tasks} tasks and ${bound}. Nothing was changed. ${most === TASKS_MOST ? 'Add the others later.' : 'Raise it or send fewer.'}`,
      { tasks, most },
    );
  }
  return limits;
}

function titleOf(body: JobBody, { tasks }: GivenTasks): string {
  if (body.title !== undefined) return body.title;
  const text = body.goal ?? tasks[0]?.title ?? 'Job';
  const line = text.trim().split('\n', 1)[0] ?? text;
  return line.length <= 80
    ? line
    : `${line
        .slice(0, 79)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`;
}

/** No check asks a model yet: refused, never ignored, since a judge that nobody asks is worse than none. */
function refuseJudge({ models }: JobBody): void {
  if (models?.judge === undefined) return;
  throw new CrewboardError(
    'invalid_argument',
    'models.judge is not supported by this version: leave it out',
    { path: 'models.judge' },
  );
}

/** A job as it is to be stored: its fixed settings and the tasks that it begins with. */
export interface CheckedJob {
  spec: JobSpec;
  tasks: readonly NewTask[];
}

/**
 * Checks a body as a whole and makes the job of it, before anything is stored. Errors: `invalid_argument`, `forbidden`,
 * `limit_exceeded`, `duplicate_key`, `dependency_cycle`, `unknown_dependency`, `unavailable` (no model for it).
 */
export async function checkJob(
  scope: Scope,
  body: JobBody,
  jobId: string,
  { settings, checkRules }: SpecDependencies,
): Promise<CheckedJob> {
  const project = projectOf(scope, body);
  refuseJudge(body);
  checkRules.refuseUnfitJob(body);
  const limits = limitsOf(body);
  const given = await givenTasks(body);
  const { tasks, pathOf } = given;
  refuseUnfitCommands(
    { tools: body.tools, tasks },
    { commands: settings.commands, hasWorkspace: body.workspace !== undefined },
    pathOf,
  );
  const provider = defaultProvider(settings);
  if (provider === undefined && (body.goal !== undefined || needsModel(tasks))) {
    throw noModel('this job');
  }
  const workspace =
    body.workspace === undefined
      ? undefined
      : { path: await checkWorkspace(body.workspace.path, settings.workspaceRoots, settings.dataDir) };
  if (workspace === undefined && body.tools !== undefined && body.tools.length > 0) {
    throw new CrewboardError('invalid_argument', 'tools need a workspace: add workspace.path', {
      path: 'tools',
    });
  }
  await checkRules.refuseUnfitTasks(tasks, { workspace }, pathOf);
  const models = {
    lead: body.models?.lead ?? settings.models.lead,
    worker: body.models?.worker ?? settings.models.worker,
  };
  refuseUnpriced(pricesOf(provider ?? 'anthropic', settings.prices), [
    ...(body.goal === undefined ? [] : modelsOfJob({ goal: body.goal, models }, limits)),
    ...modelsOf(tasks, models.worker, limits, (i) => `${pathOf(i)}.model`),
  ]);
  const spec: JobSpec = {
    v: 1,
    id: jobId,
    project,
    title: titleOf(body, given),
    ...(body.goal === undefined ? {} : { goal: body.goal }),
    ...(workspace === undefined ? {} : { workspace }),
    models,
    limits,
    allowParallelInProgress: body.allowParallelInProgress ?? true,
    tools: workspace === undefined ? [] : (body.tools ?? READ_ONLY_TOOLS),
    // A job that is all for people and programs outside calls none.
    provider: provider ?? 'anthropic',
    ...(body.outputSchema === undefined ? {} : { outputSchema: body.outputSchema }),
    ...(body.plan?.approve ? { plan: { approve: true } } : {}),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
    createdBy: scope.caller,
  };
  checkStaged(tasks, pathOf);
  return { spec, tasks };
}
