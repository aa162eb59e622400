import { type BoardSnapshot, CrewboardError, toTaskLine } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { toTask } from './public-task.ts';
import { readers } from './readers.ts';
import { countsOf, holdOf, jobStatusOf } from './readiness.ts';
import { parseReply } from './replies.ts';
import { BoardRecord, OptionalRow } from './rows.ts';

const ListReply = z.tuple([z.literal('ok'), BoardRecord, z.array(OptionalRow), z.number(), z.string()]);

/** Tasks that one snapshot holds at most: it is one script, which nothing else may wait for long. */
const LIMIT_MOST = 500;
const LIMIT_DEFAULT = 100;

/** A board as people look at it. */
export function snapshots(io: BoardIo) {
  const { job } = readers(io);
  return {
    /**
     * The first `limit` tasks in plan order (1 to 500, default 100) with status, counts and last event of the same
     * moment. Errors: `not_found`, `invalid_argument`.
     */
    async snapshot(
      jobId: string,
      { limit = LIMIT_DEFAULT }: { limit?: number | undefined } = {},
    ): Promise<BoardSnapshot> {
      if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MOST) {
        throw new CrewboardError('invalid_argument', `limit must be 1 to ${LIMIT_MOST}, got ${limit}.`, {
          path: 'limit',
        });
      }
      // The title never changes, so it may be read apart.
      const { spec } = await job(jobId);
      const reply = parseReply(await io.run(jobId, 'list_tasks', [0, limit, 0]), ListReply);
      const [, board, rows, last, asOf] = reply;
      const hold = holdOf(board);
      return {
        jobId,
        title: spec.title,
        status: jobStatusOf(board),
        counts: countsOf(board),
        tasks: rows.filter((row) => row !== undefined).map((row) => toTaskLine(toTask(row, hold))),
        more: last === 0 ? 0 : board.lastNumber - last,
        asOf,
      };
    },
  };
}
