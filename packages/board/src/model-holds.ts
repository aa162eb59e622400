import { isoTime } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { parseReply } from './replies.ts';

const BY = 'harness:provider';
const Word = z.tuple([z.enum(['ok', 'already'])]);
const WakeReply = z.tuple([z.literal('ok'), z.array(z.string())]);

/** An attempt that parked because its model answered nobody. */
export interface ParkedTask {
  taskId: string;
  attempt: number;
}

/** What a board is told of its models: that one is down or braked, and that it answers again. */
export function modelHolds(io: BoardIo) {
  const mark = async (
    jobId: string,
    kind: 'opened' | 'braked',
    model: string,
    value: string,
    data: Record<string, string>,
  ): Promise<boolean> => {
    const args = [BY, kind, model, value, JSON.stringify({ model, ...data })];
    return parseReply(await io.run(jobId, 'rate_mark', args), Word)[0] === 'ok';
  };
  return {
    /** Says that `model` answers nobody, until its tasks are woken (`rate.opened`). False when it was said. */
    markModelDown: (jobId: string, model: string, reason: string) =>
      mark(jobId, 'opened', model, reason, { reason }),

    /** Says that calls of `model` wait (`rate.braked`), once a brake. `from` and `until` are in ms of Redis' clock. */
    markBrake: (jobId: string, model: string, brake: { from: number; until: number; reason: string }) =>
      mark(jobId, 'braked', model, String(brake.from), {
        until: isoTime(brake.until),
        reason: brake.reason,
      }),

    /**
     * Makes tasks ready that parked in these attempts because `model` was down (`rate.closed`). Returns those that
     * have not parked yet. Errors: `not_found`.
     */
    async wakeParked(jobId: string, model: string, tasks: readonly ParkedTask[]): Promise<string[]> {
      const args = tasks.flatMap(({ taskId, attempt }) => [taskId, attempt]);
      return parseReply(await io.run(jobId, 'wake_parked', [BY, model, ...args]), WakeReply)[1];
    },
  };
}
