import { inject } from 'vitest';
import type { BoardFixture } from './board.ts';

const isEmbedded = inject('redisKind') === 'embedded';

/** Entries that one look back goes through at most, and one more. The embedded server takes minutes for so many. */
export const TOO_LONG = isEmbedded ? undefined : 10_001;
/** Entries of several pages of a look back. */
export const LONG = isEmbedded ? 1100 : 2500;

/** What the notes are of. */
interface Noted {
  taskId: string;
  version?: number;
}

/** Fills a board's log with `count` notes about a task. */
export async function fillLog(
  { boards, store }: Pick<BoardFixture, 'boards' | 'store'>,
  jobId: string,
  { taskId, version = 1 }: Noted,
  count: number,
): Promise<void> {
  const key = boards.keys.board(jobId, 'events');
  const fields = ['t', 'task.noted', 'k', taskId, 'a', '1', 'b', 'external:eve', 's', 'in_progress'];
  for (let left = count; left > 0; left -= 1000) {
    const pipeline = store.redis.pipeline();
    for (let i = 0; i < Math.min(left, 1000); i++)
      pipeline.xadd(key, '*', ...fields, 'n', String(version), 'o', 'external:eve', 'x', '{"text":"n"}');
    await pipeline.exec();
  }
}
