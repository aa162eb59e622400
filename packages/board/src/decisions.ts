import type { Actor } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { explainStale } from './changed-since.ts';
import { parseReply } from './replies.ts';
import { hashOf, nameOf, type PersonRequest } from './requests.ts';

const VersionReply = z.tuple([z.enum(['ok', 'already']), z.number()]);
const Word = z.tuple([z.enum(['ok', 'already'])]);

export interface Decision {
  taskId: string;
  version: number;
  decision: 'unblock' | 'approve' | 'reject';
  /** The answer or feedback that reaches the next attempt. */
  text: string;
  by: Actor;
  /** The lead's word is fenced by its claim token and repeatable by a request ID. */
  lead?: { token: string; requestId: string };
  request?: PersonRequest;
}

/** What people and the lead decide about tasks that wait for them, and about the job as a whole. */
export function decisions(io: BoardIo) {
  return {
    /**
     * Unblocks a task, approves or rejects a review or a proposal. Errors: `stale_version`, `terminal`,
     * `invalid_transition`, `not_found`, `idempotency_mismatch`; for the lead also those of its token.
     */
    async resolve(jobId: string, input: Decision): Promise<{ version: number; already: boolean }> {
      const { by, lead, taskId, version, decision, text } = input;
      const hash = hashOf(input, [taskId, version, decision, text]);
      const token = lead?.token ?? '';
      const args = [`${by.kind}:${by.id}`, token, nameOf(input), taskId, version, decision, text, hash];
      const reply = await io
        .run(jobId, 'resolve', args)
        .then((answer) => parseReply(answer, VersionReply))
        .catch((error: unknown) => explainStale(io, jobId, error, [input]));
      return { version: reply[1], already: reply[0] === 'already' };
    },

    /** Adds a cause to the job's pauses; false when it stood already. */
    async pauseJob(jobId: string, by: Actor, cause: string, reason: string): Promise<boolean> {
      return (
        parseReply(await io.run(jobId, 'pause', [`${by.kind}:${by.id}`, cause, reason]), Word)[0] === 'ok'
      );
    },

    /** Lifts one cause, or all without one; false when there was none to lift. */
    async resumeJob(jobId: string, by: Actor, cause = '', reason = ''): Promise<boolean> {
      const args = [`${by.kind}:${by.id}`, cause, reason];
      return parseReply(await io.run(jobId, 'resume', args), Word)[0] === 'ok';
    },
  };
}
