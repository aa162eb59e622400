import { type Attempt, Attempt as AttemptSchema, isoTime, type PaidUsage } from '@crewboard/contracts';
import { z } from 'zod';
import { parseOwner } from './actors.ts';
import type { BoardIo } from './board-io.ts';
import { parseUsage } from './records.ts';
import { parseReply } from './replies.ts';
import { costOf } from './spend-sums.ts';
import { withoutAbsent } from './without-absent.ts';

const AttemptRow = z
  .tuple([z.string(), z.string(), z.number(), z.number(), z.string(), z.string(), z.string()])
  .rest(z.string());

const AttemptsReply = z.tuple([
  z.literal('ok'),
  z.array(z.union([z.array(z.never()).length(0), AttemptRow])),
  z.array(z.array(z.number())),
  z.array(z.array(z.number())),
]);

/** Of an attempt's model calls; undefined when it made none. */
function usageOf(usage: readonly number[], spend: readonly number[]): PaidUsage | undefined {
  if (usage.length === 0 && spend.length === 0) return undefined;
  return { ...parseUsage(usage), ...(spend.length === 0 ? {} : costOf(spend)) };
}

/** The records of attempts, one a claim. */
export function attemptRecords(io: BoardIo) {
  return {
    /** A task's attempts, the newest last, at most the last `most`. */
    async attempts(jobId: string, taskId: string, attemptsSoFar: number, most = 50): Promise<Attempt[]> {
      const first = Math.max(1, attemptsSoFar - most + 1);
      const numbers = Array.from({ length: attemptsSoFar - first + 1 }, (_, i) => first + i);
      if (numbers.length === 0) return [];
      const fields = numbers.map((n) => `${taskId}:${n}`);
      const [, rows, usages, spends] = parseReply(
        await io.run(jobId, 'read_attempts', fields),
        AttemptsReply,
      );
      return rows.flatMap((row, i) => {
        if (row.length === 0) return [];
        const [, owner, startedAt, endedAt, outcome, failureClass, reason, answer, cause] = row;
        const attempt = {
          attempt: numbers[i] ?? 0,
          owner: parseOwner(owner),
          startedAt: isoTime(startedAt),
          endedAt: endedAt > 0 ? isoTime(endedAt) : undefined,
          outcome: outcome || undefined,
          class: failureClass || undefined,
          cause: cause || undefined,
          reason: reason || undefined,
          answer: answer || undefined,
          usage: usageOf(usages[i] ?? [], spends[i] ?? []),
        };
        return [AttemptSchema.parse(withoutAbsent(attempt))];
      });
    },
  };
}
