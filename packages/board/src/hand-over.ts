import { isEnded, JobStatus } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { parseReply } from './replies.ts';
import { hashOf, nameOf, type PersonRequest } from './requests.ts';
import { RERUN_SLICE } from './reruns.ts';

/** One thing that a board still has to hand on; carrying it out twice is harmless. */
export interface OutboxEntry {
  id: string;
  kind:
    | 'enqueue'
    | 'dispatch'
    | 'settle'
    | 'lost'
    | 'cancel'
    | 'cascade'
    | 'checks'
    | 'wind_up'
    | 'rerun'
    | 'archive'
    | 'journal';
  taskId: string;
  attempt: number;
  dispatch: number;
  /** Of `enqueue`: how many of the job were in flight with it. */
  rank: number;
}

const OutboxFields = z.object({
  v: z.coerce.number().int().min(1).max(1),
  kind: z.enum([
    'enqueue',
    'dispatch',
    'settle',
    'lost',
    'cancel',
    'cascade',
    'checks',
    'wind_up',
    'rerun',
    'archive',
    'journal',
  ]),
  task: z.string(),
  attempt: z.coerce.number().int(),
  dispatch: z.coerce.number().int(),
  // Absent in entries of an older version.
  rank: z.coerce.number().int().nonnegative().default(0),
});
const Word = z.array(z.unknown());
const SweepReply = z.union([
  z.tuple([
    z.literal('ok'),
    JobStatus,
    z.number(),
    z.number(),
    z.number(),
    z.number(),
    z.array(z.union([z.string(), z.number()])),
    z.array(z.union([z.string(), z.number()])),
    z.number(),
  ]),
  z.tuple([z.enum(['recent', 'none'])]),
]);

/** A task whose queue job must be looked up. */
export interface StaleTask {
  taskId: string;
  attempt: number;
  dispatch: number;
}

function staleTasks(flat: readonly (string | number)[]): StaleTask[] {
  const stale: StaleTask[] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) {
    stale.push({ taskId: String(flat[i]), attempt: Number(flat[i + 1]), dispatch: Number(flat[i + 2]) });
  }
  return stale;
}

export type Sweep =
  | { kind: 'recent' | 'none' }
  | {
      kind: 'swept';
      status: JobStatus;
      ended: boolean;
      ageMs: number;
      /** False while a submit still fills the board. */
      filled: boolean;
      outbox: number;
      /** Queued longer than staleMs: their queue jobs must be looked up. */
      stale: StaleTask[];
      /** Submitted tasks whose checks no runner has: likewise. */
      reviews: StaleTask[];
      /** Attempts that this round ended because their lease had run out. */
      expired: number;
    };

/** Shorter pauses of the sweeps are a busy machine's. */
const GAP_LEAST_MS = 1000;
/** Tasks that one cancel slice ends at most. */
const CANCEL_SLICE = 100;

/** The outbox and the sweep: what makes every hand-over happen at least once. */
export function handOver(io: BoardIo) {
  return {
    /** The oldest entries of a board's outbox, after the entry `after` where one is given, at most `limit`. */
    async readOutbox(jobId: string, limit: number, after?: string): Promise<OutboxEntry[]> {
      const from = after === undefined ? '-' : `(${after}`;
      const entries = await io.guard(() =>
        io.redis.xrange(io.keys.board(jobId, 'outbox'), from, '+', 'COUNT', limit),
      );
      return entries.map(([id, fields]) => {
        const pairs = Array.from({ length: fields.length / 2 }, (_, i) => [fields[i * 2], fields[i * 2 + 1]]);
        const entry = OutboxFields.parse(Object.fromEntries(pairs));
        const { kind, task: taskId, attempt, dispatch, rank } = entry;
        return { id, kind, taskId, attempt, dispatch, rank };
      });
    },

    /** Removes entries that were carried out. */
    async removeFromOutbox(jobId: string, ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return;
      await io.guard(() => io.redis.xdel(io.keys.board(jobId, 'outbox'), ...ids));
    },

    /** Carries out an entry that concerns only the board itself (not into a queue or a store). */
    async carryOut(jobId: string, entry: Pick<OutboxEntry, 'kind' | 'taskId'>): Promise<void> {
      if (entry.kind === 'settle') parseReply(await io.run(jobId, 'settle_slice', [entry.taskId]), Word);
      else if (entry.kind === 'lost') parseReply(await io.run(jobId, 'lost', [entry.taskId]), Word);
      else if (entry.kind === 'cascade') parseReply(await io.run(jobId, 'cascade', [entry.taskId]), Word);
      else if (entry.kind === 'cancel') parseReply(await io.run(jobId, 'cancel_slice', [CANCEL_SLICE]), Word);
      else if (entry.kind === 'wind_up') parseReply(await io.run(jobId, 'wind_up', [CANCEL_SLICE]), Word);
      else if (entry.kind === 'rerun')
        parseReply(await io.run(jobId, 'rerun_slice', [entry.taskId, RERUN_SLICE]), Word);
      else if (entry.kind === 'dispatch') parseReply(await io.run(jobId, 'dispatch', []), Word);
    },

    /**
     * One round over a board: expired leases, due times, window; see the script. `gapMs`: a longer time since the
     * last round is a gap, in which no heartbeat could come; by default two intervals, at least a second.
     */
    async sweep(
      jobId: string,
      options: { intervalMs: number; leaseMs: number; strikes: number; staleMs: number; gapMs?: number },
    ): Promise<Sweep> {
      const {
        intervalMs,
        leaseMs,
        strikes,
        staleMs,
        gapMs = Math.max(GAP_LEAST_MS, 2 * intervalMs),
      } = options;
      const reply = parseReply(
        await io.run(jobId, 'sweep', [intervalMs, leaseMs, strikes, staleMs, gapMs]),
        SweepReply,
      );
      if (reply[0] !== 'ok') return { kind: reply[0] };
      const [, status, ended, ageMs, filled, outbox, stale, reviews, expired] = reply;
      return {
        kind: 'swept',
        status,
        ended: ended === 1 && isEnded(status),
        ageMs,
        filled: filled === 1,
        outbox,
        stale: staleTasks(stale),
        reviews: staleTasks(reviews),
        expired,
      };
    },

    /**
     * Marks the job as being cancelled. False when it was already, or has ended. Errors: `not_found`,
     * `idempotency_mismatch`.
     */
    async cancelJob(jobId: string, by: string, reason: string, request?: PersonRequest): Promise<boolean> {
      const args = [by, reason, nameOf({ request }), hashOf({ request }, [])];
      return parseReply(await io.run(jobId, 'cancel_job', args), Word)[0] === 'ok';
    },
  };
}
