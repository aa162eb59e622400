import {
  type Counts,
  CrewboardError,
  type JobSpec,
  JobSpec as JobSpecSchema,
  type JobStatus,
  JsonValue,
  PauseCause,
  type Task,
  type Usage,
} from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { capsInForce } from './budgets.ts';
import { CODES } from './codes.ts';
import { toTask } from './public-task.ts';
import { countsOf, holdOf, jobStatusOf } from './readiness.ts';
import { parseUsage } from './records.ts';
import { parseReply } from './replies.ts';
import { BoardRecord, OptionalRow } from './rows.ts';
import { type Money, moneyOf, SpendSums } from './spend-sums.ts';

const JobReply = z.tuple([
  z.literal('ok'),
  BoardRecord,
  z.string(),
  z.string(),
  z.array(z.number()),
  z.string(),
  z.number(),
  z.string(),
  z.number(),
  SpendSums,
  z.number(),
]);
const TasksReply = z.tuple([z.literal('ok'), BoardRecord, z.array(OptionalRow)]);
const JobResultStored = z.object({ summary: z.string().optional(), output: JsonValue.optional() });

/** A board as one consistent read: settings, state, counts, usage. */
export interface JobState {
  spec: JobSpec;
  status: JobStatus;
  reason: string;
  pauses: PauseCause[];
  version: number;
  cancelling: boolean;
  lead: string | undefined;
  counts: Counts;
  /** False when only people and holders outside can move it, or nobody. */
  movesByItself: boolean;
  usage: Usage;
  /** What its model calls cost; `spec.limits` holds the caps as they are now. */
  money: Money;
  result: { summary?: string | undefined; output?: JsonValue | undefined } | undefined;
  createdAt: number;
  startedAt: number;
  endedAt: number;
  /** The last event's ID: list and stream from here have no gap. */
  asOf: string;
  /** The last event that the lead was told of. */
  cursor: string;
  /** Why tasks of the job wait for a model that answers nobody; absent while none does. */
  modelDown: string | undefined;
  /** True while something of it waits in a queue for one of our workers. */
  queued: boolean;
  /** True for a job that is filled and waits to be started. */
  held: boolean;
  plan: 'none' | 'planning' | 'proposed';
  /** Questions of the lead that nobody has answered. */
  questions: number;
}

/** Reads that see one consistent state each and walk no board. */
export function readers(io: BoardIo) {
  async function readTasks(
    jobId: string,
    taskIds: readonly string[],
    full: boolean,
  ): Promise<(Task | undefined)[]> {
    if (taskIds.length === 0) return [];
    const [, board, rows] = parseReply(
      await io.run(jobId, 'read_tasks', [full ? 1 : 0, ...taskIds]),
      TasksReply,
    );
    const hold = holdOf(board);
    return rows.map((row) => (row === undefined ? undefined : toTask(row, hold)));
  }

  return {
    /** The job and its counts. Errors: `not_found`, `unavailable` (written by a newer version). */
    async job(jobId: string): Promise<JobState> {
      const reply = parseReply(await io.run(jobId, 'read_job', []), JobReply);
      const [, board, spec, result, usage, asOf, , down, leadQueued, sums, moves] = reply;
      const stored = JobSpecSchema.parse(JSON.parse(spec));
      return {
        spec: { ...stored, limits: capsInForce(stored.limits, board) },
        status: jobStatusOf(board),
        reason: board.reason,
        pauses: z.array(PauseCause).parse(board.pauses),
        version: board.version,
        cancelling: board.cancelling,
        lead: board.lead,
        counts: countsOf(board),
        movesByItself: moves === 1,
        usage: parseUsage(usage),
        money: moneyOf(sums),
        result: result === '' ? undefined : JobResultStored.parse(JSON.parse(result)),
        createdAt: board.createdAt,
        startedAt: board.startedAt,
        endedAt: board.endedAt,
        asOf,
        cursor: board.cursor,
        modelDown: down === '' ? undefined : down,
        queued: leadQueued === 1 || board.count(CODES.queued) > 0,
        held: board.status === 'accepting' && board.isFilled,
        plan: board.plan,
        questions: board.questions,
      };
    },

    /** Some tasks by ID, at most 100 a call, in the order asked; `full` with the long texts. */
    readTasks,

    /** One task with its long texts. Errors: `not_found`. */
    async task(jobId: string, taskId: string): Promise<Task> {
      const [task] = await readTasks(jobId, [taskId], true);
      if (task === undefined) throw new CrewboardError('not_found', `no such task ${taskId}`);
      return task;
    },
  };
}
