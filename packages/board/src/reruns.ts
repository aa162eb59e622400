import type { Actor } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { parseReply } from './replies.ts';
import { hashOf, nameOf, type PersonRequest } from './requests.ts';
import { packSelection, type SelectedTask } from './rerun-slice.ts';

/** Tasks that one script opens again at most. */
const SLICE = 100;

const RerunReply = z.tuple([z.enum(['ok', 'expected']), z.number()]);

export interface RerunInput {
  by: Actor;
  /** Ended tasks as they were seen; one that changes before its turn is left as it is then. */
  tasks: readonly SelectedTask[];
  reason: string;
  /** Is put below each task's instructions. */
  instructions?: string | undefined;
  expectCount?: number | undefined;
  request?: PersonRequest;
}

/** How many tasks are opened again; `isExpected` false: another number than was expected, and nothing was changed. */
export interface Rerun {
  count: number;
  isExpected: boolean;
}

/** Opening many ended tasks of a job again. */
export function reruns(io: BoardIo) {
  return {
    /**
     * Takes a selection in one script, from which on the job is open; its tasks follow through the outbox, a slice at
     * a time, each once. An empty selection changes nothing. A repeat under the same name is answered as the first
     * was. Errors: `terminal` (the job is being cancelled), `idempotency_mismatch`, `not_found`.
     */
    async rerun(jobId: string, input: RerunInput): Promise<Rerun> {
      const { by, tasks, reason, instructions = '', expectCount = '' } = input;
      const slices = Array.from({ length: Math.ceil(tasks.length / SLICE) }, (_, i) =>
        packSelection(tasks.slice(i * SLICE, (i + 1) * SLICE)),
      );
      const hash = hashOf(input, [tasks, reason, instructions, expectCount]);
      const args = [nameOf(input), hash, reason, instructions, tasks.length, expectCount, ...slices];
      const [word, count] = parseReply(
        await io.run(jobId, 'rerun', [`${by.kind}:${by.id}`, ...args]),
        RerunReply,
      );
      return { count, isExpected: word === 'ok' };
    },
  };
}
