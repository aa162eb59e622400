import type { Actor, TaskId } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import type { PreparedTask } from './new-tasks.ts';
import { parseReply } from './replies.ts';

const strings = z.array(z.string());
const numbers = z.array(z.number());
const PlanReply = z.union([
  z.tuple([z.literal('ok'), strings, numbers, z.number(), strings, numbers, strings]),
  z.tuple([z.enum(['collision', 'graph'])]),
]);

/** Whose change it is, and under which name it can be repeated. */
export interface ChangeRequest {
  by: Actor;
  /** The lead's claim token: its writes are fenced. */
  token?: string | undefined;
  requestId?: string | undefined;
  /** Of the whole call, to tell a repeat from another call under the same name. */
  hash?: string;
  /** The graph version that was checked for cycles. */
  graph?: string;
  /** Who may add to a board that is still being filled. */
  fill?: string;
}

/** One edit in the form of the script (lua/lib/edit.lua), and the whole new texts where they change. */
export interface PreparedEdit {
  change: Record<string, unknown>;
  head: string;
  body: string;
}

export interface PreparedChanges {
  edits: readonly PreparedEdit[];
  cancels: readonly { id: string; version: number; reason: string; cascade: boolean }[];
  reopens: readonly { id: string; version: number; reason: string }[];
  dryRun?: boolean | undefined;
  approve?: number | undefined;
}

export const NO_CHANGES: PreparedChanges = { edits: [], cancels: [], reopens: [] };

export interface Planned {
  /** Of the batch's tasks in input order: where each now stands. */
  added: { taskId: TaskId; number: number }[];
  changed: { taskId: TaskId; version: number }[];
  startedDependents: TaskId[];
}

/**
 * Runs the plan script: all or nothing. `numberOf` fixes numbers (staging); 0: they follow the last one.
 * `collision`: prepare again, with other IDs; `graph`: dependencies moved, check for cycles again.
 */
export async function runPlan(
  io: BoardIo,
  jobId: string,
  { by, token = '', requestId = '', hash = '', graph = '', fill = '' }: ChangeRequest,
  adds: readonly PreparedTask[],
  changes: PreparedChanges,
  numberOf: (task: PreparedTask) => number = () => 0,
): Promise<Planned | 'collision' | 'graph'> {
  const reply = parseReply(
    await io.run(jobId, 'plan', [
      `${by.kind}:${by.id}`,
      token,
      requestId,
      hash,
      graph,
      JSON.stringify(adds.map((task) => task.header(numberOf(task)))),
      JSON.stringify({ ...changes, edits: changes.edits.map(({ change }) => change) }),
      fill,
      ...adds.flatMap((task) => [task.head, task.body]),
      ...changes.edits.flatMap((edit) => [edit.head, edit.body]),
    ]),
    PlanReply,
  );
  if (reply.length === 1) return reply[0];
  const [, ids, numbersOfIds, , changed, versions, startedDependents] = reply;
  return {
    added: ids.map((taskId, i) => ({ taskId, number: numbersOfIds[i] ?? 0 })),
    changed: changed.map((taskId, i) => ({ taskId, version: versions[i] ?? 0 })),
    startedDependents,
  };
}
