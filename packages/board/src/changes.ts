import { createHash } from 'node:crypto';
import {
  type Actor,
  CrewboardError,
  type DependencyRef,
  type NewTask,
  type Task,
  type TaskId,
} from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { explainStale } from './changed-since.ts';
import { checkGraph } from './graph.ts';
import {
  defaultPolicy,
  orderBatch,
  type PreparedTask,
  packReferences,
  prepareTask,
  type Reference,
  toReference,
} from './new-tasks.ts';
import { type Planned, type PreparedEdit, runPlan } from './plan-script.ts';
import { type Body, executorCode, type Head, policyCode, toTask, withoutAbsent } from './records.ts';
import { parseReply } from './replies.ts';
import { BoardRecord, OptionalRow } from './rows.ts';

/** Tries of a change whose IDs collide or whose graph moves under it. */
const TRIES = 8;
const BoardReply = z.tuple([z.literal('ok'), BoardRecord]).rest(z.unknown());
const TasksReply = z.tuple([z.literal('ok'), BoardRecord, z.array(OptionalRow)]);

/** New values of a task's fields; absent ones stay. */
export type TaskPatch = Partial<Omit<NewTask, 'key' | 'dependsOn'>> & {
  dependsOn?: readonly DependencyRef[] | undefined;
};

/** A batch of changes, carried out all or not at all, adds first. */
export interface ChangeInput {
  by: Actor;
  /** Attempts of added tasks that name no number; absent: the job's, also when those change. */
  maxAttempts?: number | undefined;
  adds?: readonly NewTask[];
  edits?: readonly { taskId: TaskId; version: number; patch: TaskPatch }[];
  cancels?: readonly {
    taskId: TaskId;
    version: number;
    reason: string;
    dependents?: 'hold' | 'cancel' | undefined;
  }[];
  reopens?: readonly { taskId: TaskId; version: number; reason: string }[];
  /** The lead's writes are fenced by its claim token and repeatable by a request ID. */
  lead?: { token: string; requestId: string };
  /** A person's name for this call: repeated with the same content it changes nothing and answers the same. */
  idempotencyKey?: string;
  /** Only checks: the same errors, and nothing changes. */
  dryRun?: boolean;
  /** The adds are the tasks of the plan of this version, which a person approves with them. */
  approve?: number;
}

export interface AddInput extends Pick<ChangeInput, 'by' | 'maxAttempts' | 'lead' | 'idempotencyKey'> {
  tasks: readonly NewTask[];
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

const has = (patch: TaskPatch, names: readonly (keyof TaskPatch)[]) =>
  names.some((name) => patch[name] !== undefined);

function editedHead(task: Task, patch: TaskPatch): string {
  if (!has(patch, HEAD_FIELDS)) return '';
  const head: Head = withoutAbsent({
    v: 1 as const,
    key: task.key,
    title: patch.title ?? task.title,
    labels: patch.labels ?? task.labels,
    acceptance: patch.acceptance ?? task.acceptance,
    model: patch.model ?? task.model,
    limits: patch.limits ?? task.limits,
    parent: patch.parent ?? task.parent,
    replaces: patch.replaces ?? task.replaces,
    command: patch.command ?? task.command,
    createdBy: task.createdBy,
  });
  return JSON.stringify(head);
}

function editedBody(task: Task, patch: TaskPatch): string {
  if (!has(patch, BODY_FIELDS)) return '';
  const body: Body = withoutAbsent({
    instructions: patch.instructions ?? task.instructions,
    input: patch.input ?? task.input,
    outputSchema: patch.outputSchema ?? task.outputSchema,
  });
  return JSON.stringify(body);
}

/** The policy after an edit: the one named; one that only followed from the checks goes on following them. */
function editedPolicy(task: Task, patch: TaskPatch): Task['policy'] | undefined {
  if (patch.policy !== undefined) return patch.policy;
  if (!has(patch, ['acceptance', 'outputSchema']) || !['none', 'checked'].includes(task.policy))
    return undefined;
  return defaultPolicy({
    title: task.title,
    acceptance: patch.acceptance ?? task.acceptance,
    outputSchema: patch.outputSchema ?? task.outputSchema,
  });
}

function prepareEdit(
  task: Task | undefined,
  { taskId, version, patch }: NonNullable<ChangeInput['edits']>[number],
): PreparedEdit {
  const policy = task === undefined ? undefined : editedPolicy(task, patch);
  const change = withoutAbsent({
    id: taskId,
    version,
    fields: Object.keys(withoutAbsent({ ...patch })),
    priority: patch.priority,
    policy: policy === undefined ? undefined : policyCode(policy),
    executor: patch.executor === undefined ? undefined : executorCode(patch.executor),
    maxAttempts: patch.maxAttempts,
    parent: patch.parent,
    replaces: patch.replaces,
    onLost: patch.onDependencyLost === undefined ? undefined : Number(patch.onDependencyLost === 'cancel'),
    deps: patch.dependsOn === undefined ? undefined : packReferences(patch.dependsOn.map(toReference)),
  });
  // An absent or newer task is refused by the script, so its texts are not needed.
  const current = task !== undefined && task.version === version ? task : undefined;
  return {
    change,
    head: current === undefined ? '' : editedHead(current, patch),
    body: current === undefined ? '' : editedBody(current, patch),
  };
}

/** The name under which a call is remembered: the lead's and people's never meet. */
function nameOf({ lead, idempotencyKey }: ChangeInput): string | undefined {
  if (lead !== undefined) return `lead/${lead.requestId}`;
  return idempotencyKey === undefined ? undefined : `person/${idempotencyKey}`;
}

/** A task that stands in two changes of one batch would be changed at a version that nobody saw. */
function refuseTwice(input: ChangeInput): void {
  const seen = new Set<string>();
  for (const { taskId } of [...(input.edits ?? []), ...(input.cancels ?? []), ...(input.reopens ?? [])]) {
    if (seen.has(taskId)) {
      throw new CrewboardError(
        'invalid_argument',
        `${taskId} stands in two changes of this batch. Nothing was changed.`,
      );
    }
    seen.add(taskId);
  }
}

/** The dependencies that a batch would set, by task ID, as far as the batch and the board know their names. */
async function newEdges(io: BoardIo, jobId: string, input: ChangeInput, adds: readonly PreparedTask[]) {
  const names = new Map(adds.filter((task) => task.key !== '').map((task) => [task.key, task.id]));
  const keyed = async (reference: string): Promise<string> => {
    const known = names.get(reference);
    if (known !== undefined) return known;
    const held = await io.guard(() => io.redis.hget(io.keys.board(jobId, 'keys'), reference));
    return held === null ? reference : held.slice(0, 10);
  };
  const edgesOf = (references: readonly Reference[]) =>
    Promise.all(references.map(({ reference }) => keyed(reference)));
  const edges = new Map<string, string[]>();
  for (const { taskId, patch } of input.edits ?? []) {
    if (patch.dependsOn !== undefined) edges.set(taskId, await edgesOf(patch.dependsOn.map(toReference)));
  }
  if (edges.size > 0) for (const task of adds) edges.set(task.id, await edgesOf(task.references));
  return edges;
}

/** Changes of what the board holds, by people and the lead. */
export function boardChanges(io: BoardIo) {
  async function graphOf(jobId: string): Promise<string> {
    const [, board] = parseReply(await io.run(jobId, 'read_job', []), BoardReply);
    return board.graph;
  }

  async function tasksOf(jobId: string, ids: readonly string[]): Promise<(Task | undefined)[]> {
    if (ids.length === 0) return [];
    const [, , rows] = parseReply(await io.run(jobId, 'read_tasks', [1, ...ids]), TasksReply);
    return rows.map((row) => (row === undefined ? undefined : toTask(row, undefined)));
  }

  /**
   * Carries out a batch. Errors: those of adds (`duplicate_key`, `dependency_cycle`, `unknown_dependency`,
   * `limit_exceeded`), `stale_version` with what changed since, `terminal`, `invalid_transition`, `not_found`,
   * `idempotency_mismatch`; for the lead also those of its token. Nothing is changed then.
   */
  async function change(jobId: string, input: ChangeInput): Promise<Planned> {
    refuseTwice(input);
    const { edits = [], cancels = [], reopens = [], adds = [] } = input;
    const tasks = await tasksOf(
      jobId,
      edits.map(({ taskId }) => taskId),
    );
    const changes = {
      edits: edits.map((edit, i) => prepareEdit(tasks[i], edit)),
      cancels: cancels.map(({ taskId, version, reason, dependents }) => ({
        id: taskId,
        version,
        reason,
        cascade: dependents === 'cancel',
      })),
      reopens: reopens.map(({ taskId, version, reason }) => ({ id: taskId, version, reason })),
      dryRun: input.dryRun,
      approve: input.approve,
    };
    const request = {
      by: input.by,
      token: input.lead?.token,
      // A check is no request: the real one may follow under the same name.
      requestId: input.dryRun ? undefined : nameOf(input),
      hash: createHash('sha256')
        .update(JSON.stringify(input.approve === undefined ? [adds, edits, cancels, reopens] : input.approve))
        .digest('base64'),
    };
    for (let tries = 0; tries < TRIES; tries++) {
      const prepared = adds.map((task) => prepareTask(task, input.by, input));
      orderBatch(prepared);
      const edges = await newEdges(io, jobId, input, prepared);
      const { graph, cycle } = await checkGraph(io, jobId, edges, edges.size > 0 ? await graphOf(jobId) : '');
      const planned = await runPlan(io, jobId, { ...request, graph }, prepared, changes).catch(
        (error: unknown) => explainStale(io, jobId, error, [...edits, ...cancels, ...reopens]),
      );
      if (typeof planned === 'object') return planned;
      if (planned === 'graph' && cycle !== undefined) throw cycle;
    }
    throw new CrewboardError(
      'unavailable',
      'the dependencies of this board change too fast. Nothing was changed. Try again.',
    );
  }

  return {
    change,
    /** Adds at most ADD_MOST tasks, all or nothing; answers where each stands, in input order. */
    async add(jobId: string, { tasks, ...input }: AddInput): Promise<Planned['added']> {
      return (await change(jobId, { ...input, adds: tasks })).added;
    },
  };
}
