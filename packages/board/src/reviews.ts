import { type CheckedData, type Evidence, type JsonValue, newSecret } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { storedName } from './call-name.ts';
import { withChangedSince } from './changed-since.ts';
import type { Hold } from './holder-calls.ts';
import { parseReply } from './replies.ts';
import { withoutAbsent } from './without-absent.ts';

const StartReply = z.union([
  z.tuple([z.literal('ok'), z.string(), z.number()]),
  z.tuple([z.literal('none')]),
]);
const VersionReply = z.tuple([z.literal('ok'), z.number()]);
const NoteReply = z.tuple([z.enum(['ok', 'already']), z.number()]);
const ReviewReply = z.tuple([z.literal('ok'), z.enum(['', 'checks', 'review']), z.number(), z.string()]);
const RunnerRecord = z.object({
  at: z.number(),
  runner: z.string().optional(),
  problem: z.string().optional(),
});

export interface Verdict {
  passed: boolean;
  /** Why not; reaches the next attempt. */
  reason: string;
  output?: JsonValue | undefined;
  evidence: Evidence[];
  /** Pause before the next attempt after a failed check, in ms. */
  delayMs: number;
  /** What the event says of the verdict. */
  told: CheckedData;
}

/** What a submitted task waits for; times in ms by Redis' clock. */
export type Review =
  | { waitsFor: 'nothing' | 'people' }
  | { waitsFor: 'checks'; runner: string; sinceMs: number }
  /** No runner has the checks; `problem`: why the last one did not end them. */
  | { waitsFor: 'runner'; problem?: string };

/** Checks of submitted tasks, run under a lease of the runner's own; a heartbeat with its token extends that. */
export function reviews(io: BoardIo) {
  return {
    /** Takes a task's checks; undefined when there is nothing to check or another runner does. */
    async startChecks(
      jobId: string,
      taskId: string,
      runner: string,
      leaseMs: number,
    ): Promise<{ token: string; version: number } | undefined> {
      const reply = parseReply(
        await io.run(jobId, 'check_start', [taskId, runner, newSecret(), leaseMs]),
        StartReply,
      );
      return reply.length === 1 ? undefined : { token: reply[1], version: reply[2] };
    },

    /**
     * Brings the verdict at the version that was checked. Errors: `lease_lost`, `stale_version` with what changed since,
     * `terminal` while the job is being cancelled, `not_found`.
     */
    async endChecks(
      jobId: string,
      taskId: string,
      check: { token: string; version: number },
      { passed, reason, output, evidence, delayMs, told }: Verdict,
    ): Promise<{ version: number }> {
      const stored = passed ? JSON.stringify(withoutAbsent({ output, evidence })) : '';
      const args = [taskId, check.token, check.version, passed ? 1 : 0, reason, stored, delayMs];
      const [, version] = await withChangedSince(io, { jobId, taskId }, check.version, async () =>
        parseReply(await io.run(jobId, 'check_end', [...args, JSON.stringify(told)]), VersionReply),
      );
      return { version };
    },

    /**
     * Gives checks back that were not ended: to the queue at once, or after `delayMs` with the `problem` that kept them
     * from running. Errors: `lease_lost`, `not_found`.
     */
    async releaseChecks({ jobId, taskId, token }: Hold, delayMs: number, problem: string): Promise<void> {
      parseReply(await io.run(jobId, 'check_release', [taskId, token, delayMs, problem]), VersionReply);
    },

    /**
     * Logs the verdict of checks that the harness has run for the task's holder at this version; a repeat of the request
     * with the same verdict logs nothing. Errors: those of the token, `stale_version` with what changed since.
     */
    async tellChecked(hold: Hold, requestId: string, version: number, told: CheckedData): Promise<void> {
      const name = storedName(`${told.passed ? 'passed' : 'failed'}/${requestId}`, 'checked');
      const data = JSON.stringify(told);
      const args = [hold.taskId, hold.token, name, 'task.checked', data, '', version, 0, 'harness:check'];
      await withChangedSince(io, hold, version, async () =>
        parseReply(await io.run(hold.jobId, 'note', args), NoteReply),
      );
    },

    /** What a submitted task waits for. Errors: `not_found`. */
    async reviewOf(jobId: string, taskId: string): Promise<Review> {
      const reply = parseReply(await io.run(jobId, 'read_review', [taskId]), ReviewReply);
      const [, hold, isRunning, record] = reply;
      if (hold !== 'checks') return { waitsFor: hold === 'review' ? 'people' : 'nothing' };
      const known = record === '' ? undefined : RunnerRecord.parse(JSON.parse(record));
      if (isRunning === 1) {
        return { waitsFor: 'checks', runner: known?.runner ?? 'a worker', sinceMs: known?.at ?? 0 };
      }
      return withoutAbsent({ waitsFor: 'runner' as const, problem: known?.problem });
    },
  };
}
