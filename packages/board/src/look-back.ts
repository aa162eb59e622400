import { z } from 'zod';
import type { BoardIo } from './board-io.ts';

/** Entries of the log that one read brings. */
const PAGE = 1000;
/** Entries that one look back goes through at most, whomever they are about. */
const LOOKED_AT_MOST = 10_000;

/** Entries as Redis answers them: an ID each, and fields with their values in turn. */
export const LogEntries = z.array(z.tuple([z.string(), z.array(z.string())]));
type LogEntry = z.infer<typeof LogEntries>[number];

/** What a look back wants of a log. */
export interface Wanted<T> {
  /** The entry as the caller knows it; undefined for one that is not wanted, as most of a busy board's are. */
  read: (entry: LogEntry) => T | undefined;
  /** Asked of each wanted entry, the newest first: true when nothing before it is needed. */
  isEnough: (found: T) => boolean;
}

/** What a look back found, oldest first. */
export interface LookBack<T> {
  found: T[];
  /** True when it ended at its bound: more of what is wanted may stand further back. */
  isCut: boolean;
}

/** Goes back through a board's log from its end, in pages, until it is enough or `most` entries were looked at. */
export async function lookBack<T>(
  io: BoardIo,
  jobId: string,
  { read, isEnough }: Wanted<T>,
  most: number = LOOKED_AT_MOST,
): Promise<LookBack<T>> {
  const key = io.keys.board(jobId, 'events');
  const found: T[] = [];
  let until = '+';
  for (let left = most; left > 0; ) {
    const count = Math.min(left, PAGE);
    const page = await io.guard(() => io.redis.xrevrange(key, until, '-', 'COUNT', count));
    for (const entry of LogEntries.parse(page)) {
      const wanted = read(entry);
      if (wanted === undefined) continue;
      found.push(wanted);
      if (isEnough(wanted)) return { found: found.reverse(), isCut: false };
    }
    const last = page.at(-1);
    if (last === undefined || page.length < count) return { found: found.reverse(), isCut: false };
    until = `(${last[0]}`;
    left -= page.length;
  }
  return { found: found.reverse(), isCut: true };
}
