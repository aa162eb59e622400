import { isoTime, type Owner, type Task } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { type CallName, type HolderAction, storedName } from './call-name.ts';
import { withChangedSince } from './changed-since.ts';
import { toTask } from './public-task.ts';
import { parseReply } from './replies.ts';
import { TaskRow } from './rows.ts';
import { withoutAbsent } from './without-absent.ts';

const ClaimReply = z.union([
  z.tuple([z.enum(['ok', 'already']), z.string(), z.union([z.string(), z.number()]), TaskRow, z.number()]),
  z.tuple([z.enum(['none', 'dropped'])]),
]);
const HeartbeatReply = z.tuple([z.literal('ok'), z.string(), z.number(), z.number(), z.number()]);
const CheckReply = z.tuple([z.enum(['ok', 'already'])]);
const LeaseReply = z.tuple([z.literal('ok'), z.number(), z.number(), z.number()]);
const VersionReply = z.tuple([z.enum(['ok', 'already']), z.number()]);

/** Proof of an attempt, sent with every call of its holder. */
export interface Hold {
  jobId: string;
  taskId: string;
  token: string;
}

export interface ClaimInput {
  /** Absent: the next ready task for external and human holders. */
  taskId?: string;
  owner: Owner;
  secret: string;
  requestId: string;
  /** 0: no lease (human holders). */
  leaseMs: number;
  /** Attempts so far as the queue's payload says; another number drops the delivery. */
  expectedAttempt?: number;
}

export interface Claimed {
  token: string;
  task: Task;
  leaseUntil?: string;
  /** The last attempt failed and the conversation has not begun anew yet. */
  fresh: boolean;
  /** Of the job: older facts about it may be out of date. */
  jobVersion: number;
}

/** What a heartbeat is answered: the lease's end, the task's version, and how its job stands. */
export interface HeartbeatAnswer {
  leaseUntil?: string;
  version: number;
  cancelling: boolean;
  paused: boolean;
}

/** What a holder does while it holds a task; each call but the claim is fenced by its token. */
export function holderCalls(io: BoardIo) {
  return {
    /**
     * Claims a task. Undefined when nothing is ready (without a task ID) or when the delivery was for another
     * attempt. Errors: `already_claimed`, `not_ready`, `terminal`, `board_paused`, `parallel_in_progress`,
     * `not_found`, `forbidden`.
     */
    async claim(jobId: string, input: ClaimInput): Promise<Claimed | undefined> {
      const reply = parseReply(
        await io.run(jobId, 'claim', [
          input.taskId ?? '',
          `${input.owner.kind}:${input.owner.id}`,
          input.secret,
          input.requestId,
          input.leaseMs,
          input.expectedAttempt ?? '',
        ]),
        ClaimReply,
      );
      if (reply.length === 1) return undefined;
      const [, token, leaseUntil, row, jobVersion] = reply;
      return withoutAbsent({
        token,
        task: toTask(row, undefined),
        leaseUntil: leaseUntil === '' ? undefined : isoTime(Number(leaseUntil)),
        fresh: row.hot.fresh === 1,
        jobVersion,
      });
    },

    /** The task that this owner's claim with this request ID got and still holds. */
    async claimedBy(jobId: string, owner: Owner, requestId: string): Promise<string | undefined> {
      const args = [`${owner.kind}:${owner.id}`, requestId];
      return z.string().parse(await io.run(jobId, 'claimed_by', args)) || undefined;
    },

    /**
     * Extends the lease by `leaseMs` from now; absent: by as much as it has (none for people). Answers its end, the
     * task's version, and whether the job is being cancelled or is paused.
     */
    async heartbeat(hold: Hold, leaseMs?: number, seen?: number): Promise<HeartbeatAnswer> {
      const args = [hold.taskId, hold.token, leaseMs ?? '', seen ?? ''];
      const [, leaseUntil, version, cancelling, paused] = await withChangedSince(io, hold, seen, async () =>
        parseReply(await io.run(hold.jobId, 'heartbeat', args), HeartbeatReply),
      );
      return withoutAbsent({
        leaseUntil: leaseUntil === '' ? undefined : isoTime(Number(leaseUntil)),
        version,
        cancelling: cancelling === 1,
        paused: paused === 1,
      });
    },

    /**
     * What the board says to a holder before it looks at what the holder wants, in the fixed order of refusals.
     * `repeat`: the request was carried out before. Errors: `not_owner`, `idempotency_mismatch`, `lease_lost`,
     * `terminal`, `stale_version`.
     */
    async checkHold(
      hold: Hold,
      name: CallName,
      action: HolderAction,
      seen?: number,
    ): Promise<'repeat' | 'current'> {
      const args = [hold.taskId, hold.token, storedName(name, action), seen ?? ''];
      const [word] = await withChangedSince(io, hold, seen, async () =>
        parseReply(await io.run(hold.jobId, 'check_hold', args), CheckReply),
      );
      return word === 'already' ? 'repeat' : 'current';
    },

    /** A task's lease: its length in ms (0: none), its end (0: none) and Redis' time, both in ms. */
    async leaseOf(jobId: string, taskId: string): Promise<{ leaseMs: number; until: number; now: number }> {
      const [, leaseMs, until, now] = parseReply(await io.run(jobId, 'read_lease', [taskId]), LeaseReply);
      return { leaseMs, until, now };
    },
  };
}

/** What a holder tells of its work on the way. */
export function holderNotes(io: BoardIo) {
  return {
    /**
     * Logs a note (at most 2 KB) and, when given, the short progress text that the task shows. `forLead`: it is news
     * that wakes the lead.
     */
    async note(
      hold: Hold,
      name: CallName,
      text: string,
      options: { progress?: string | undefined; version?: number | undefined; forLead?: boolean } = {},
    ): Promise<void> {
      const { progress, version = '', forLead = false } = options;
      const extra = JSON.stringify(withoutAbsent({ text, progress, forLead: forLead || undefined }));
      const args = [
        hold.taskId,
        hold.token,
        storedName(name, 'note'),
        'task.noted',
        extra,
        progress ?? '',
        version,
        forLead ? 1 : 0,
      ];
      await withChangedSince(io, hold, options.version, async () =>
        parseReply(await io.run(hold.jobId, 'note', args), VersionReply),
      );
    },

    /** Logs progress alone: the state of the holder's checklist. */
    async progress(hold: Hold, name: CallName, progress: string): Promise<void> {
      const extra = JSON.stringify({ progress });
      parseReply(
        await io.run(hold.jobId, 'note', [
          hold.taskId,
          hold.token,
          storedName(name, 'progress'),
          'task.progress',
          extra,
          progress,
        ]),
        VersionReply,
      );
    },
  };
}
