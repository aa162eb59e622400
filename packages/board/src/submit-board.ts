import { type Actor, type JobSpec, type NewTask, newTaskId } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { capsOf } from './budgets.ts';
import { orderBatch, type PreparedTask, prepareTasks } from './new-tasks.ts';
import { NO_CHANGES, runPlan } from './plan-script.ts';
import { parseReply } from './replies.ts';

/** Tasks that one script adds at most: keeps the longest script short. */
export const ADD_MOST = 1000;

const CreateReply = z.tuple([z.enum(['ok', 'already']), z.number()]);
const Word = z.array(z.unknown()).transform((list) => String(list[0]));

const ID_TRIES = 4;

/**
 * Lets `parent` and `replaces` name by ID what a later chunk brings: unlike dependencies they may lead there. Returns
 * the tasks that are named so.
 */
function nameAhead(chunk: readonly PreparedTask[], later: ReadonlyMap<string, PreparedTask>): PreparedTask[] {
  const named: PreparedTask[] = [];
  for (const task of chunk) {
    for (const field of ['parent', 'replaces'] as const) {
      const target = later.get(task[field]);
      if (target === undefined) continue;
      task[field] = target.id;
      named.push(target);
    }
  }
  return named;
}

/** Gives a task that is not stored yet another ID. */
function renameTask(task: PreparedTask, numbers: Map<string, number>): void {
  const number = numbers.get(task.id) ?? 0;
  numbers.delete(task.id);
  task.id = newTaskId();
  numbers.set(task.id, number);
}

/** How a board comes to be: create, fill, flip; and the end of one that was never flipped. */
export function submitBoard(io: BoardIo) {
  return {
    /**
     * Makes the board of `spec` in `accepting`, with task 0 when `lead` is given. Repeating it changes nothing.
     * `hold`: once filled it waits for a second flip.
     */
    async create(
      spec: JobSpec,
      options: {
        coalesceMs: number;
        hold: boolean;
        /** Proves who fills the board: a request that was overtaken can't add to it or flip it any more. */
        fill: string;
        lead?: { title: string; instructions: string; by: Actor };
        /** A person approves the plan before any task starts: the lead's plan, or the given tasks without a lead. */
        approvePlan?: boolean;
      },
    ): Promise<{ createdAt: number }> {
      const { lead } = options;
      const head =
        lead === undefined
          ? ''
          : JSON.stringify({ v: 1, title: lead.title, labels: [], acceptance: [], createdBy: lead.by });
      const planMode = options.approvePlan === true ? (lead === undefined ? 2 : 1) : 0;
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
          options.fill,
          spec.limits.maxAttempts,
          spec.limits.maxFailures ?? 0,
          spec.limits.jobTimeoutMs ?? 0,
          planMode,
          ...capsOf(spec.limits),
        ]),
        CreateReply,
      );
      return { createdAt };
    },

    /**
     * Fills an accepting board with any number of tasks, in chunks whose dependencies always stand before them (parents and what is replaced may come later);
     * numbers are those of the input order. Only for a board that nobody sees yet.
     */
    async stage(
      jobId: string,
      input: { tasks: readonly NewTask[]; by: Actor; maxAttempts?: number; fill: string },
      signal?: AbortSignal,
    ): Promise<void> {
      const prepared = await prepareTasks(input.tasks, input.by, input);
      const numbers = new Map(prepared.map((task, i) => [task.id, i + 1]));
      const ordered = orderBatch(prepared);
      const later = new Map(ordered.filter(({ key }) => key !== '').map((task) => [task.key, task]));
      const namedAhead = new Set<PreparedTask>();
      for (let from = 0; from < ordered.length; from += ADD_MOST) {
        const chunk = ordered.slice(from, from + ADD_MOST);
        for (const { key } of chunk) later.delete(key);
        for (const task of nameAhead(chunk, later)) namedAhead.add(task);
        let planned: Awaited<ReturnType<typeof runPlan>> = 'collision';
        for (let tries = 0; planned === 'collision' && tries < ID_TRIES; tries++) {
          signal?.throwIfAborted();
          planned = await runPlan(io, jobId, input, chunk, NO_CHANGES, (task) => numbers.get(task.id) ?? 0);
          // References are keys, so a task may take another ID as long as nobody has seen it or named it by that ID.
          if (planned !== 'collision') break;
          for (const task of chunk) if (!namedAhead.has(task)) renameTask(task, numbers);
        }
        if (typeof planned !== 'object') throw new Error('task IDs collide again and again');
      }
    },

    /**
     * The one step that makes a filled board a job that runs, or a held one: that one is flipped again with an empty
     * token when it is to start. True when the job runs from now on. Errors: `terminal`, `unavailable` (`fill` was
     * overtaken), `not_found`.
     */
    async flip(jobId: string, by: Actor, fill: string): Promise<boolean> {
      return parseReply(await io.run(jobId, 'flip', [`${by.kind}:${by.id}`, fill]), Word) === 'ok';
    },

    /** Deletes a board that is not filled yet and older than `ageMs`; false when it is younger or a job by now. */
    async drop(jobId: string, ageMs: number): Promise<boolean> {
      return parseReply(await io.run(jobId, 'drop', [ageMs]), Word) === 'ok';
    },
  };
}
