import type { Actor, Task, TaskId } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { parseReply } from './replies.ts';
import { hashOf, nameOf, type PersonRequest } from './requests.ts';

const RerunReply = z.tuple([z.literal('ok'), z.number(), z.number(), z.number(), z.number(), z.string()]);

/** Tasks that one slice opens at most. */
export const RERUN_SLICE = 250;
const ID_LENGTH = 10;

/** How far a rerun is. */
export interface RerunState {
  /** Its number among those of the job. */
  rerun: number;
  matched: number;
  reopened: number;
  /** Left as they are, for they had changed. */
  skipped: number;
  /** Still to come. */
  left: number;
  startedDependents: TaskId[];
}

export interface RerunInput {
  by: Actor;
  reason: string;
  /** What the next attempts are told. */
  instructions?: string | undefined;
  /** The tasks that match, at the versions that were seen, in the order of their numbers. */
  tasks: readonly Pick<Task, 'id' | 'version'>[];
  /** How many must match. */
  expectCount?: number | undefined;
  request?: PersonRequest;
}

function chunksOf(tasks: RerunInput['tasks']): string[] {
  const count = Math.ceil(tasks.length / RERUN_SLICE);
  return Array.from({ length: count }, (_, i) =>
    tasks
      .slice(i * RERUN_SLICE, (i + 1) * RERUN_SLICE)
      .map(({ id, version }) => `${id}:${version};`)
      .join(''),
  );
}

function stateOf(reply: unknown): RerunState {
  const [, rerun, matched, reopened, skipped, started] = parseReply(reply, RerunReply);
  const ids = Array.from({ length: started.length / ID_LENGTH }, (_, i) =>
    started.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH),
  );
  return {
    rerun,
    matched,
    reopened,
    skipped,
    left: matched - reopened - skipped,
    startedDependents: ids,
  };
}

/** Runs many ended tasks again. */
export function reruns(io: BoardIo) {
  return {
    /**
     * Fixes which tasks run again, and opens an ended job; the tasks follow through the outbox. Errors: `not_found` (no
     * task, or no job), `invalid_argument` (another number than `expectCount`), `terminal` while the job is being
     * cancelled, `idempotency_mismatch`. Nothing is changed then.
     */
    async startRerun(jobId: string, input: RerunInput): Promise<RerunState> {
      const { by, reason, instructions, tasks, expectCount = '', request } = input;
      const told = instructions === undefined ? '' : JSON.stringify({ instructions });
      const name = nameOf({ request });
      const hash = hashOf({ request }, []);
      const args = [`${by.kind}:${by.id}`, name, hash, reason, told, tasks.length, expectCount];
      return stateOf(await io.run(jobId, 'rerun', [...args, ...chunksOf(tasks)]));
    },

    /** Opens the next tasks of a rerun; one that is carried out stays as it is. Errors: `not_found`. */
    async rerunSlice(jobId: string, rerun: number): Promise<RerunState> {
      return stateOf(await io.run(jobId, 'rerun_slice', [rerun, RERUN_SLICE]));
    },
  };
}
