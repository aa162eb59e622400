import { createHash } from 'node:crypto';
import {
  type Actor,
  CrewboardError,
  type DependencyRef,
  type NewTask,
  newTaskId,
  shownLine,
  type TaskId,
} from '@crewboard/contracts';
import { inSlices } from './in-slices.ts';
import { executorCode, policyCode } from './public-task.ts';
import type { Body, Head } from './records.ts';
import { withoutAbsent } from './without-absent.ts';

/** A dependency as named: a key or ID, with its condition. */
export interface Reference {
  reference: string;
  condition: 'completed' | 'settled';
}

/** The form of references in scripts. */
export function packReferences(references: readonly Reference[]): string[][] {
  return references.map(({ reference, condition }) => [reference, condition === 'settled' ? 's' : 'c']);
}

/** One task made ready for the add script: its ID, the header that the script decodes, and its stored texts. */
export interface PreparedTask {
  id: TaskId;
  key: string;
  references: Reference[];
  /** Keys or IDs as named; '' for none. */
  parent: string;
  replaces: string;
  header: (number: number) => unknown[];
  head: string;
  body: string;
}

export function toReference(ref: DependencyRef): Reference {
  if (typeof ref === 'string') return { reference: ref, condition: 'completed' };
  return { reference: ref.task, condition: ref.condition ?? 'completed' };
}

/** A task's policy when none is named: `checked` if the harness has something to check, else `none`. */
export function defaultPolicy(task: NewTask): NonNullable<NewTask['policy']> {
  const checks = task.acceptance?.some((item) => item.check !== undefined) ?? false;
  return checks || task.outputSchema !== undefined ? 'checked' : 'none';
}

/** Prepares one task. Without attempts of its own, or of `defaults`, it has the job's, also when those change. */
export function prepareTask(
  task: NewTask,
  by: Actor,
  defaults: { maxAttempts?: number | undefined; hold?: 'proposal' },
): PreparedTask {
  const head: Head = withoutAbsent({
    v: 1 as const,
    key: task.key,
    title: task.title,
    labels: task.labels ?? [],
    acceptance: task.acceptance ?? [],
    model: task.model,
    limits: task.limits,
    command: task.command,
    createdBy: by,
  });
  const body: Body = withoutAbsent({
    instructions: task.instructions,
    input: task.input,
    outputSchema: task.outputSchema,
  });
  const key = task.key ?? '';
  const hash = createHash('sha256').update(JSON.stringify(task)).digest('base64').slice(0, 16);
  const references = (task.dependsOn ?? []).map(toReference);
  const prepared: PreparedTask = {
    id: newTaskId(),
    key,
    references,
    parent: task.parent ?? '',
    replaces: task.replaces ?? '',
    header: (number) => [
      prepared.id,
      key,
      hash,
      number,
      task.priority ?? 2,
      executorCode(task.executor ?? 'agent'),
      policyCode(task.policy ?? defaultPolicy(task)),
      task.maxAttempts ?? defaults.maxAttempts ?? 0,
      task.onDependencyLost === 'cancel' ? 1 : 0,
      packReferences(references),
      prepared.parent,
      defaults.hold ?? '',
      prepared.replaces,
    ],
    head: JSON.stringify(head),
    body: Object.keys(body).length === 0 ? '' : JSON.stringify(body),
  };
  return prepared;
}

/** Prepares any number of tasks in their order, without keeping the process from its other work. */
export async function prepareTasks(
  tasks: readonly NewTask[],
  ...[by, defaults]: [Actor, Parameters<typeof prepareTask>[2]]
): Promise<PreparedTask[]> {
  const prepared: PreparedTask[] = [];
  await inSlices(tasks, (task) => prepared.push(prepareTask(task, by, defaults)));
  return prepared;
}

/** What one task of a batch names of that batch: task to the others. */
type NextInBatch = (task: PreparedTask) => PreparedTask[];

function batchCycle(path: readonly PreparedTask[], back: PreparedTask, what: string): CrewboardError {
  const names = path.map(({ key }) => key);
  const cycle = [...names.slice(names.indexOf(back.key)), back.key];
  return new CrewboardError('dependency_cycle', `${what} a cycle: ${cycle.join(' -> ')}`, { cycle });
}

/**
 * Orders a batch so that each task stands after those that it names. Throws `dependency_cycle` with the path; `what`
 * forms it: "the dependencies form".
 */
function walkBatch(tasks: readonly PreparedTask[], nextOf: NextInBatch, what: string): PreparedTask[] {
  const ordered: PreparedTask[] = [];
  const done = new Set<PreparedTask>();
  for (const root of tasks) {
    // An explicit stack: a chain of many thousand tasks would overflow a recursion.
    const path: { task: PreparedTask; next: PreparedTask[] }[] = [];
    const onPath = new Set<PreparedTask>();
    const enter = (task: PreparedTask) => {
      path.push({ task, next: nextOf(task).reverse() });
      onPath.add(task);
    };
    if (!done.has(root)) enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.next.pop();
      if (next === undefined) {
        path.pop();
        onPath.delete(top.task);
        done.add(top.task);
        ordered.push(top.task);
      } else if (onPath.has(next)) {
        throw batchCycle(
          path.map(({ task }) => task),
          next,
          what,
        );
      } else if (!done.has(next)) enter(next);
    }
  }
  return ordered;
}

/**
 * Checks what a batch says about itself: a key twice (`duplicate_key`) and cycles of dependencies, parents or
 * replacements (`dependency_cycle` with the path). Existing tasks never name new ones, so a cycle can only stand inside
 * the batch. Returns the tasks in an order in which each stands after those of the batch that it depends on.
 */
export function orderBatch(tasks: readonly PreparedTask[]): PreparedTask[] {
  const byName = new Map<string, PreparedTask>();
  for (const task of tasks) {
    if (task.key === '') continue;
    if (byName.has(task.key)) {
      throw new CrewboardError(
        'duplicate_key',
        `the key "${shownLine(task.key, 200)}" stands twice in this batch.`,
        { key: task.key },
      );
    }
    byName.set(task.key, task);
  }
  const known = (names: readonly string[]) =>
    names.map((name) => byName.get(name)).filter((task) => task !== undefined);
  walkBatch(tasks, ({ parent }) => known([parent]), '"parent" forms');
  walkBatch(tasks, ({ replaces }) => known([replaces]), '"replaces" forms');
  return walkBatch(
    tasks,
    ({ references }) => known(references.map(({ reference }) => reference)),
    'the dependencies form',
  );
}

/**
 * Checks a whole job's tasks before anything is stored: `duplicate_key`, `dependency_cycle`, `unknown_dependency`.
 * On a new board only keys of the same body can be named; `pathOf` names a task by its index.
 */
export async function checkStaged(
  tasks: readonly NewTask[],
  pathOf: (index: number) => string = (i) => `tasks[${i}]`,
): Promise<void> {
  const by: Actor = { kind: 'user', id: 'check' };
  const prepared = await prepareTasks(tasks, by, {});
  orderBatch(prepared);
  const keys = new Set(prepared.map((task) => task.key));
  for (const [i, task] of tasks.entries()) {
    const named = [
      ...(prepared[i]?.references.map(({ reference }) => reference) ?? []),
      task.parent,
      task.replaces,
    ];
    const unknown = named.find(
      (reference) => reference !== undefined && (reference === '' || !keys.has(reference)),
    );
    if (unknown === undefined) continue;
    throw new CrewboardError(
      'unknown_dependency',
      `${pathOf(i)} names "${shownLine(unknown, 200)}", which is no key of this job's tasks.`,
      { reference: unknown, path: pathOf(i) },
    );
  }
}
