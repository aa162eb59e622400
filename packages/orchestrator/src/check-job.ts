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
import { refuseCommandTool, refuseUnfitCommands } from './command-tasks.ts';
import { expandMap } from './map/expand-map.ts';
import { modelsOf, modelsOfJob, pricesOf, refuseUnpriced } from './prices.ts';
import type { Scope } from './service.ts';
import { defaultProvider, needsModel, noModel, type Settings } from './settings.ts';
import { checkWorkspace } from './workspace-root.ts';

const READ_ONLY_TOOLS: WorkToolName[] = ['list_files', 'read_file', 'search_files'];
/** Tasks that a job's body may bring; more can be added once it runs. */
const TASKS_MOST = 100_000;

/** What a body is checked against. */
export interface JobRules {
  settings: Settings;
  checkRules: CheckRules;
}

/** A body with all its tasks written out, and the job's fixed settings. */
interface CheckedJob {
  spec: JobSpec;
  body: JobBody;
}

/** No check asks a model yet: refused, never ignored, since a judge that nobody asks is worse than none. */
function refuseJudge({ models }: JobBody): void {
  if (models?.judge === undefined) return;
  const path = 'models.judge';
  const detail = `${path} is not supported by this version: leave it out`;
  throw new CrewboardError('invalid_argument', detail, { path });
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
  const tasks = (body.tasks?.length ?? 0) + (body.map?.items.length ?? 0);
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

function titleOf(body: JobBody): string {
  if (body.title !== undefined) return body.title;
  const text = body.goal ?? body.tasks?.[0]?.title ?? 'Job';
  const line = text.trim().split('\n', 1)[0] ?? text;
  return line.length <= 80
    ? line
    : `${line
        .slice(0, 79)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`;
}

/** Settings of a job as its body and this server have them; the tasks are checked besides. */
async function specOf(
  scope: Scope,
  body: JobBody,
  jobId: string,
  { settings, checkRules }: JobRules,
): Promise<JobSpec> {
  checkRules.refuseUnfitJob(body);
  const limits = limitsOf(body);
  const provider = defaultProvider(settings);
  if (provider === undefined && (body.goal !== undefined || needsModel(body.tasks ?? []))) {
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
  const models = {
    lead: body.models?.lead ?? settings.models.lead,
    worker: body.models?.worker ?? settings.models.worker,
  };
  if (body.goal !== undefined) {
    const prices = pricesOf(provider ?? 'anthropic', settings.prices);
    refuseUnpriced(prices, modelsOfJob({ goal: body.goal, models }, limits));
  }
  return {
    v: 1,
    id: jobId,
    project: projectOf(scope, body),
    title: titleOf(body),
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
}

/** Where a task stands in the body as it was sent: `tasks[3]`, or for one that a map makes `map.items[0]`. */
function placesIn({ tasks = [] }: JobBody): (index: number) => string {
  return (i) => (i < tasks.length ? `tasks[${i}]` : `map.items[${i - tasks.length}]`);
}

/** Refuses tasks that could not be run as they are, each by its place. */
async function refuseUnfit(
  tasks: readonly NewTask[],
  spec: JobSpec,
  pathOf: (index: number) => string,
  { settings, checkRules }: JobRules,
): Promise<void> {
  const { workspace, models, limits, provider } = spec;
  const rules = { commands: settings.commands, hasWorkspace: workspace !== undefined };
  await refuseUnfitCommands(tasks, rules, pathOf);
  await checkRules.refuseUnfitTasks(tasks, { workspace }, pathOf);
  const called = modelsOf(tasks, models.worker, limits, (i) => `${pathOf(i)}.model`);
  refuseUnpriced(pricesOf(provider, settings.prices), called);
  await checkStaged(tasks, pathOf);
}

/**
 * Checks a body as a whole and makes a job of it, before anything is stored. Errors: `invalid_argument`, `forbidden`,
 * `limit_exceeded`, `duplicate_key`, `dependency_cycle`, `unknown_dependency`, `unavailable` (no model for it).
 */
export async function checkJob(
  scope: Scope,
  sent: JobBody,
  jobId: string,
  rules: JobRules,
): Promise<CheckedJob> {
  refuseJudge(sent);
  refuseCommandTool(sent.tools, rules.settings.commands);
  // Before so many are made.
  limitsOf(sent);
  const { map, ...others } = sent;
  const tasks = map === undefined ? sent.tasks : await expandMap(map, sent.tasks ?? []);
  const body = { ...others, tasks };
  const spec = await specOf(scope, body, jobId, rules);
  await refuseUnfit(tasks ?? [], spec, placesIn(sent), rules);
  return { spec, body };
}
