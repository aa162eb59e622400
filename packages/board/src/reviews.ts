import { type Evidence, type JsonValue, newSecret } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { withoutAbsent } from './records.ts';
import { parseReply } from './replies.ts';

const StartReply = z.union([
  z.tuple([z.literal('ok'), z.string(), z.number()]),
  z.tuple([z.literal('none')]),
]);
const EndReply = z.tuple([z.literal('ok'), z.number()]);

export interface Verdict {
  passed: boolean;
  /** Why not; reaches the next attempt. */
  reason: string;
  output?: JsonValue | undefined;
  evidence: Evidence[];
  /** Pause before the next attempt after a failed check, in ms. */
  delayMs: number;
}

/** Checks of submitted tasks, run under a lease of the runner's own. */
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

    /** Brings the verdict at the version that was checked. Errors: `lease_lost`, `stale_version`, `not_found`. */
    async endChecks(
      jobId: string,
      taskId: string,
      check: { token: string; version: number },
      { passed, reason, output, evidence, delayMs }: Verdict,
    ): Promise<{ version: number }> {
      const stored = passed ? JSON.stringify(withoutAbsent({ output, evidence })) : '';
      const args = [taskId, check.token, check.version, passed ? 1 : 0, reason, stored, delayMs];
      const [, version] = parseReply(await io.run(jobId, 'check_end', args), EndReply);
      return { version };
    },
  };
}
