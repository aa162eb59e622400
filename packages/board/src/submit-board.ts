import { createHash } from 'node:crypto';
import { type Actor, type JobSpec, type NewTask, newTaskId, type TaskId } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { BOARD_KEYS } from './keys.ts';
import { checkStaged, orderBatch, type PreparedTask, prepareTask } from './new-tasks.ts';
import { parseReply } from './replies.ts';

/** Tasks that one script adds at most: keeps the longest script short. */
export const ADD_MOST = 1000;

const CreateReply = z.tuple([z.enum(['ok', 'already']), z.number()]);
const AddReply = z.union([
  z.tuple([z.literal('ok'), z.array(z.string()), z.array(z.number()), z.number()]),
  z.tuple([z.literal('collision')]),
]);
const Word = z.array(z.unknown()).transform((list) => String(list[0]));

export interface AddedTask {
  taskId: TaskId;
  number: number;
}

export interface AddInput {
  tasks: readonly NewTask[];
  by: Actor;
  maxAttempts: number;
  /** The lead's writes are fenced by its claim token and repeatable by a request ID. */
  lead?: { token: string; requestId: string };
  /** A person's name for this call: repeated with the same tasks it adds nothing and answers the same. */
  idempotencyKey?: string;
}

/** Whose add it is, and under which name it can be repeated. */
interface AddRequest {
  by: Actor;
  token?: string | undefined;
  requestId?: string | undefined;
  /** Of the whole call, to tell a repeat from another call under the same name. */
  hash?: string;
}

/** One add of at most ADD_MOST tasks; `numberOf` fixes their numbers (staging), 0: they follow the last one. */
async function addPrepared(
  io: BoardIo,
  jobId: string,
  tasks: readonly PreparedTask[],
  { by, token = '', requestId = '', hash = '' }: AddRequest,
  numberOf: (task: PreparedTask) => number,
): Promise<AddedTask[] | 'collision'> {
  const headers = JSON.stringify(tasks.map((task) => task.header(numberOf(task))));
  const texts = tasks.flatMap((task) => [task.head, task.body]);
  const args = [`${by.kind}:${by.id}`, token, requestId, hash, headers, ...texts];
  const reply = parseReply(await io.run(jobId, 'add', args), AddReply);
  if (reply[0] === 'collision') return 'collision';
  const numbers = reply[2];
  return reply[1].map((taskId, i) => ({ taskId, number: numbers[i] ?? 0 }));
}

/** How a board comes to be: create, fill (staged or by calls), flip; and its removal. */
export function submitBoard(io: BoardIo) {
  return {
    checkStaged,

    /**
     * Makes the board of `spec` in `accepting`, with task 0 when `lead` is given. Repeating it changes nothing.
     * `hold` keeps the sweeper from deleting it while it is not flipped.
     */
    async create(
      spec: JobSpec,
      options: {
        coalesceMs: number;
        hold: boolean;
        lead?: { title: string; instructions: string; by: Actor };
      },
    ): Promise<{ createdAt: number }> {
      const { lead } = options;
      const head =
        lead === undefined
          ? ''
          : JSON.stringify({ v: 1, title: lead.title, labels: [], acceptance: [], createdBy: lead.by });
      const body = lead === undefined ? '' : JSON.stringify({ instructions: lead.instructions });
      const [, createdAt] = parseReply(
        await io.run(spec.id, 'create', [
          JSON.stringify(spec),
          spec.limits.maxParallel,
          spec.allowParallelInProgress ? 1 : 0,
          spec.limits.maxTasks,
          spec.limits.maxLeadRuns,
          options.coalesceMs,
          options.hold ? 1 : 0,
          lead === undefined ? '' : newTaskId(),
          head,
          body,
        ]),
        CreateReply,
      );
      return { createdAt };
    },

    /**
     * Adds tasks to a board that accepts or runs: at most ADD_MOST, all or nothing, answered in input order.
     * A key that stands with the same content is a no-op. Errors: `duplicate_key`, `dependency_cycle`,
     * `unknown_dependency`, `limit_exceeded`, `terminal`, `idempotency_mismatch`; for the lead also those of its token.
     */
    async add(jobId: string, input: AddInput): Promise<AddedTask[]> {
      const request = {
        by: input.by,
        token: input.lead?.token,
        requestId: input.lead?.requestId ?? input.idempotencyKey,
        hash: createHash('sha256').update(JSON.stringify(input.tasks)).digest('base64'),
      };
      for (let tries = 0; ; tries++) {
        const prepared = input.tasks.map((task) => prepareTask(task, input.by, input));
        orderBatch(prepared);
        const added = await addPrepared(io, jobId, prepared, request, () => 0);
        if (added !== 'collision') return added;
        if (tries === 3) throw new Error('task IDs collide again and again');
      }
    },

    /**
     * Fills an accepting board with any number of tasks, in chunks whose dependencies always stand before them;
     * numbers are those of the input order. Only for a board that nobody sees yet.
     */
    async stage(
      jobId: string,
      input: Omit<AddInput, 'lead' | 'idempotencyKey'>,
      signal?: AbortSignal,
    ): Promise<void> {
      const prepared = input.tasks.map((task) => prepareTask(task, input.by, input));
      const numbers = new Map(prepared.map((task, i) => [task, i + 1]));
      const ordered = orderBatch(prepared);
      for (let from = 0; from < ordered.length; from += ADD_MOST) {
        signal?.throwIfAborted();
        const chunk = ordered.slice(from, from + ADD_MOST);
        const added = await addPrepared(io, jobId, chunk, { by: input.by }, (task) => numbers.get(task) ?? 0);
        if (added === 'collision') throw new Error('a task ID collided; submit again');
      }
    },

    /** The one step that makes a filled board a job that runs. True the first time. */
    async flip(jobId: string, by: Actor): Promise<boolean> {
      return parseReply(await io.run(jobId, 'flip', [`${by.kind}:${by.id}`]), Word) === 'ok';
    },

    /** Deletes every key of a board and the journals of `taskIds`. */
    async remove(jobId: string, taskIds: readonly string[]): Promise<void> {
      const keys = [
        ...BOARD_KEYS.map((key) => io.keys.board(jobId, key)),
        ...taskIds.map((taskId) => io.keys.journal(jobId, taskId)),
      ];
      for (let from = 0; from < keys.length; from += 500) {
        await io.guard(() => io.redis.unlink(keys.slice(from, from + 500)));
      }
    },
  };
}
