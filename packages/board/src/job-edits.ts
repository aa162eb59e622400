import { isDeepStrictEqual } from 'node:util';
import type { Actor, JobLimits, JobSpec } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { capsOf } from './budgets.ts';
import { withLimitsSince } from './changed-since.ts';
import { parseReply } from './replies.ts';

const EditReply = z.tuple([z.literal('ok'), z.number()]);

/** What may be changed about a job that was submitted. */
export function jobEdits(io: BoardIo) {
  return {
    /**
     * Gives the job `limits` in place of those of `spec`, which was read at `version`; returns its new version, or the same
     * one when nothing changes. `changed` names the limits that were asked for. Errors: `stale_version` with the job's
     * version and what has changed, `terminal`,
     * `not_found`.
     */
    async editJob(
      spec: JobSpec,
      edit: { by: Actor; version: number; limits: JobLimits; changed: object },
    ): Promise<number> {
      const { by, version, limits, changed } = edit;
      const args = [
        `${by.kind}:${by.id}`,
        version,
        JSON.stringify({ ...spec, limits }),
        JSON.stringify({ version: version + 1, limits: changed }),
        ...capsOf(limits),
        isDeepStrictEqual(spec.limits, limits) ? 1 : 0,
      ];
      const edited = withLimitsSince(io, spec.id, version, () => io.run(spec.id, 'edit_job', args));
      const [, next] = parseReply(await edited, EditReply);
      return next;
    },
  };
}
