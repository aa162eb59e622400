import type { Counts, Task, TaskListQuery } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { OUTSIDE_CODES } from './codes.ts';
import { toTask } from './public-task.ts';
import { codesOf, countsOf, holdOf } from './readiness.ts';
import { parseReply } from './replies.ts';
import { BoardRecord, OptionalRow } from './rows.ts';
import { withoutAbsent } from './without-absent.ts';

const ListReply = z.tuple([z.literal('ok'), BoardRecord, z.array(OptionalRow), z.number(), z.string()]);
const BoardReply = z.tuple([z.literal('ok'), BoardRecord]).rest(z.unknown());

/** Tasks that one filtered page looks at, at most. */
const SCAN_MOST = 2000;
const SIFTED_SCAN = 100;

export interface TaskPage {
  tasks: Task[];
  /** Pass as `after` for the next page. */
  nextAfter?: number;
  asOf: string;
  counts: Counts;
}

export type PageQuery = Pick<TaskListQuery, 'status' | 'readiness' | 'label'> & {
  /** Number of the last task seen; 0: from the start. */
  after: number;
  limit: number;
  full?: boolean;
  /** Leaves out proposals that nobody has accepted, rejected ones among them. */
  planned?: boolean;
  /** What else a task must be; absent: nothing. */
  fits?: ((task: Task) => boolean) | undefined;
};

/** Tasks of a list from a number on: `last` is the last number looked at, 0 when there is no more. */
interface ListedTasks {
  tasks: Task[];
  last: number;
  asOf: string;
  counts: Counts;
}

/** Makes a page of lists that know all filters but the labels and `fits`. */
export async function pageThrough(
  query: PageQuery,
  list: (after: number, limit: number) => Promise<ListedTasks>,
): Promise<TaskPage> {
  const labels = [query.label ?? []].flat();
  const { fits = () => true } = query;
  const found: Task[] = [];
  // Of what is looked at most may not match.
  const isSifted = labels.length > 0 || query.fits !== undefined;
  const scan = isSifted ? Math.max(query.limit, SIFTED_SCAN) : query.limit;
  let after = query.after;
  let scanned = 0;
  for (;;) {
    const page = await list(after, scan);
    const answer = { asOf: page.asOf, counts: page.counts };
    scanned += page.tasks.length;
    for (const [i, task] of page.tasks.entries()) {
      if (labels.every((label) => task.labels.includes(label)) && fits(task)) found.push(task);
      if (found.length < query.limit) continue;
      const more = page.last > 0 || i < page.tasks.length - 1;
      return withoutAbsent({ tasks: found, nextAfter: more ? task.number : undefined, ...answer });
    }
    after = page.last;
    if (after === 0) return { tasks: found, ...answer };
    if (scanned >= SCAN_MOST) return { tasks: found, nextAfter: after, ...answer };
  }
}

/** Lists of tasks in plan order. A cursor is a task's number, so pages stay stable while tasks change. */
export function taskPages(io: BoardIo) {
  async function list(
    jobId: string,
    after: number,
    limit: number,
    codes: readonly number[],
    { full = false, planned = false }: Pick<PageQuery, 'full' | 'planned'> = {},
  ): Promise<ListedTasks> {
    const reply = parseReply(
      await io.run(jobId, 'list_tasks', [after, limit, full ? 1 : 0, ...codes]),
      ListReply,
    );
    const [, board, rows, last, asOf] = reply;
    const hold = holdOf(board);
    const tasks = rows
      .filter((row) => row !== undefined)
      .filter(({ hot }) => !planned || !OUTSIDE_CODES.includes(hot.code))
      .map((row) => toTask(row, hold));
    return { tasks, last, asOf, counts: countsOf(board) };
  }

  /** The codes that a filter stands for; none means all tasks, undefined that nothing can match. */
  async function codesFor(jobId: string, query: PageQuery): Promise<number[] | undefined> {
    if (query.status === undefined && query.readiness === undefined) return [];
    const [, board] = parseReply(await io.run(jobId, 'read_job', []), BoardReply);
    const codes = codesOf(query, holdOf(board));
    return codes.length === 0 ? undefined : codes;
  }

  return {
    /**
     * A page of tasks after number `after`; the filters are status, readiness, labels (all of them) and `fits`. With
     * the last two a page may be short of `limit` while more follow: at most SCAN_MOST tasks are looked at.
     */
    async page(jobId: string, query: PageQuery): Promise<TaskPage> {
      const codes = await codesFor(jobId, query);
      if (codes === undefined) {
        const { asOf, counts } = await list(jobId, 0, 1, []);
        return { tasks: [], asOf, counts };
      }
      return pageThrough(query, (after, limit) => list(jobId, after, limit, codes, query));
    },
  };
}
