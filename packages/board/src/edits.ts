import { isDeepStrictEqual } from 'node:util';
import type { Task, TaskChanges, TaskId } from '@crewboard/contracts';
import { defaultPolicy, packReferences, toReference } from './new-tasks.ts';
import type { PreparedEdit } from './plan-script.ts';
import { executorCode, policyCode } from './public-task.ts';
import type { Body, Head } from './records.ts';
import { withoutAbsent } from './without-absent.ts';

/** What is to be changed of one task, at the version that the caller saw. */
export interface Edit {
  taskId: TaskId;
  version: number;
  patch: TaskChanges;
}

const HEAD_FIELDS = [
  'title',
  'labels',
  'acceptance',
  'model',
  'limits',
  'parent',
  'replaces',
  'command',
] as const;
const BODY_FIELDS = ['instructions', 'input', 'outputSchema'] as const;

const has = (patch: TaskChanges, names: readonly (keyof TaskChanges)[]) =>
  names.some((name) => patch[name] !== undefined);

/** The value after an edit; null takes it away. */
const after = <T>(value: T | null | undefined, before: T | undefined): T | undefined =>
  value === undefined ? before : (value ?? undefined);

/** The new head without what parent and replaces are set to: the script adds the IDs that those references mean. */
function editedHead(task: Task, patch: TaskChanges): string {
  if (!has(patch, HEAD_FIELDS)) return '';
  const head: Head = withoutAbsent({
    v: 1 as const,
    key: task.key,
    title: patch.title ?? task.title,
    labels: patch.labels ?? task.labels,
    acceptance: patch.acceptance ?? task.acceptance,
    model: after(patch.model, task.model),
    limits: after(patch.limits, task.limits),
    parent: patch.parent === undefined ? task.parent : undefined,
    replaces: patch.replaces === undefined ? task.replaces : undefined,
    command: patch.command ?? task.command,
    createdBy: task.createdBy,
  });
  return JSON.stringify(head);
}

function editedBody(task: Task, patch: TaskChanges): string {
  if (!has(patch, BODY_FIELDS)) return '';
  const body: Body = withoutAbsent({
    instructions: after(patch.instructions, task.instructions),
    // null is an input like any other.
    input: patch.input === undefined ? task.input : patch.input,
    outputSchema: after(patch.outputSchema, task.outputSchema),
  });
  return JSON.stringify(body);
}

/** The policy after an edit: the one named; one that only followed from the checks goes on following them. */
function editedPolicy(task: Task, patch: TaskChanges): Task['policy'] | undefined {
  if (patch.policy !== undefined) return patch.policy;
  if (!has(patch, ['acceptance', 'outputSchema']) || !['none', 'checked'].includes(task.policy))
    return undefined;
  return defaultPolicy({
    title: task.title,
    acceptance: patch.acceptance ?? task.acceptance,
    outputSchema: after(patch.outputSchema, task.outputSchema),
  });
}

/** The fields whose values are other than the task's own; what references mean only the script knows. */
function changedFields(task: Task, patch: TaskChanges): string[] {
  const { parent: _parent, replaces: _replaces, dependsOn: _dependsOn, ...values } = patch;
  const before: Record<string, unknown> = { ...task };
  return Object.entries(values)
    .filter(([name, value]) => {
      const wanted = name !== 'input' && value === null ? undefined : value;
      return value !== undefined && !isDeepStrictEqual(wanted, before[name]);
    })
    .map(([name]) => name);
}

/** An edit in the form of the script, made from the task as it stands; an absent one is refused there. */
export function prepareEdit(task: Task | undefined, { taskId, version, patch }: Edit): PreparedEdit {
  const policy = task === undefined ? undefined : editedPolicy(task, patch);
  // One of another version is refused by the script as well, so neither texts nor fields are needed.
  const current = task !== undefined && task.version === version ? task : undefined;
  const change = withoutAbsent({
    id: taskId,
    version,
    fields: current === undefined ? [] : changedFields(current, patch),
    priority: patch.priority,
    policy: policy === undefined ? undefined : policyCode(policy),
    executor: patch.executor === undefined ? undefined : executorCode(patch.executor),
    maxAttempts: patch.maxAttempts,
    parent: patch.parent === null ? '' : patch.parent,
    replaces: patch.replaces === null ? '' : patch.replaces,
    onLost: patch.onDependencyLost === undefined ? undefined : Number(patch.onDependencyLost === 'cancel'),
    deps: patch.dependsOn === undefined ? undefined : packReferences(patch.dependsOn.map(toReference)),
  });
  return {
    change,
    head: current === undefined ? '' : editedHead(current, patch),
    body: current === undefined ? '' : editedBody(current, patch),
  };
}
