import {
  type Actor,
  CrewboardError,
  type NewTask,
  type Task,
  type TaskChanges,
  type TaskId,
} from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { explainStale } from './changed-since.ts';
import { type Edit, prepareEdit } from './edits.ts';
import { type ChangedLinks, checkGraph, type NewEdges } from './graph.ts';
import { orderBatch, type PreparedTask, prepareTask, toReference } from './new-tasks.ts';
import { type Planned, runPlan } from './plan-script.ts';
import { toTask } from './public-task.ts';
import { parseReply } from './replies.ts';
import { hashOf, nameOf, type PersonRequest } from './requests.ts';
import { BoardRecord, OptionalRow } from './rows.ts';
import { ADD_MOST } from './submit-board.ts';
import { withoutAbsent } from './without-absent.ts';

/** Tries of a change whose IDs collide or whose graph moves under it. */
const TRIES = 8;
const BoardReply = z.tuple([z.literal('ok'), BoardRecord]).rest(z.unknown());
const TasksReply = z.tuple([z.literal('ok'), BoardRecord, z.array(OptionalRow)]);

/** A batch of changes, carried out all or not at all, adds first. */
export interface ChangeInput {
  by: Actor;
  /** Attempts of added tasks that name no number; absent: the job's, also when those change. */
  maxAttempts?: number | undefined;
  adds?: readonly NewTask[];
  edits?: readonly Edit[];
  cancels?: readonly {
    taskId: TaskId;
    version: number;
    reason: string;
    dependents?: 'hold' | 'cancel' | undefined;
  }[];
  reopens?: readonly { taskId: TaskId; version: number; reason: string }[];
  /** The lead's writes are fenced by its claim token and repeatable by a request ID. */
  lead?: { token: string; requestId: string };
  request?: PersonRequest;
  /** Only checks: the same errors, and nothing changes. */
  dryRun?: boolean;
  /** The adds are the tasks of the plan of this version, which a person approves with them. */
  approve?: number;
}

export interface AddInput extends Pick<ChangeInput, 'by' | 'maxAttempts' | 'lead' | 'request'> {
  tasks: readonly NewTask[];
}

/** A task that stands in two changes of one batch would be changed at a version that nobody saw. */
function refuseTwice(input: ChangeInput): void {
  const seen = new Set<string>();
  for (const { taskId } of [...(input.edits ?? []), ...(input.cancels ?? []), ...(input.reopens ?? [])]) {
    if (seen.has(taskId)) {
      throw new CrewboardError('invalid_argument', `${taskId} stands in two changes of this batch`);
    }
    seen.add(taskId);
  }
}

/** What a batch would set of what tasks name, by task ID, as far as the batch and the board know those names. */
async function newLinks(
  io: BoardIo,
  jobId: string,
  input: ChangeInput,
  adds: readonly PreparedTask[],
): Promise<ChangedLinks> {
  const names = new Map(adds.filter((task) => task.key !== '').map((task) => [task.key, task.id]));
  const idOf = async (reference: string): Promise<string> => {
    const known = names.get(reference);
    if (known !== undefined) return known;
    const held = await io.guard(() => io.redis.hget(io.keys.board(jobId, 'keys'), reference));
    return held === null ? reference : held.slice(0, 10);
  };
  const links = async (
    edited: (patch: TaskChanges) => readonly string[] | undefined,
    added: (task: PreparedTask) => readonly string[],
  ): Promise<NewEdges | undefined> => {
    const edges = new Map<string, string[]>();
    for (const { taskId, patch } of input.edits ?? []) {
      const named = edited(patch);
      if (named !== undefined) edges.set(taskId, await Promise.all(named.map(idOf)));
    }
    // What is only added can close no cycle with what is there.
    if (edges.size === 0) return undefined;
    for (const task of adds) edges.set(task.id, await Promise.all(added(task).map(idOf)));
    return edges;
  };
  const one = (name: string | null | undefined) => (name ? [name] : undefined);
  return withoutAbsent({
    dependsOn: await links(
      (patch) => patch.dependsOn?.map((reference) => toReference(reference).reference),
      (task) => task.references.map(({ reference }) => reference),
    ),
    parent: await links(
      (patch) => one(patch.parent),
      (task) => one(task.parent) ?? [],
    ),
    replaces: await links(
      (patch) => one(patch.replaces),
      (task) => one(task.replaces) ?? [],
    ),
  });
}

/** One script changes so many tasks at most: it keeps everybody else waiting. */
function refuseTooMany({ adds = [], edits = [], cancels = [], reopens = [] }: ChangeInput): void {
  const changes = adds.length + edits.length + cancels.length + reopens.length;
  if (changes <= ADD_MOST) return;
  throw new CrewboardError(
    'limit_exceeded',
    `this call has ${changes} tasks, and one may have at most ${ADD_MOST}. Nothing was changed. Send them in several calls.`,
    { changes, most: ADD_MOST },
  );
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
    refuseTooMany(input);
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
      hash: hashOf(input, input.approve === undefined ? [adds, edits, cancels, reopens] : [input.approve]),
    };
    for (let tries = 0; tries < TRIES; tries++) {
      const prepared = adds.map((task) => prepareTask(task, input.by, input));
      orderBatch(prepared);
      const links = await newLinks(io, jobId, input, prepared);
      const isMoved = Object.keys(links).length > 0;
      const { graph, cycle } = await checkGraph(io, jobId, links, isMoved ? await graphOf(jobId) : '');
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
