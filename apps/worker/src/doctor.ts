import { type Boards, type DoctorReport, openBoards, type RedisClient } from '@crewboard/board';
import { CrewboardError } from '@crewboard/contracts';

/** What a run of the doctor looks over. */
export interface DoctorRun {
  /** The prefix that API and workers use. */
  prefix: string;
  /** Absent: every job that is listed or live. */
  jobId?: string | undefined;
  /** Puts right what follows from other state. */
  repair?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** What is said of one job. */
export interface JobReport extends DoctorReport {
  /** The job has left Redis for its archive, so there was no board to look over. */
  archived?: true;
}

const JOBS_A_PAGE = 100;
/** A submit lists its job a moment before it makes the board. */
const WITHOUT_BOARD_MS = 60_000;

/** All jobs, the newest first, then those that only the sweeper knows: submits that are not finished. */
async function* jobsOf({ index }: Boards): AsyncGenerator<string> {
  const seen = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const page = await index.listed('*', JOBS_A_PAGE, cursor);
    for (const jobId of page) seen.add(jobId);
    yield* page;
    cursor = page.at(-1);
    if (page.length < JOBS_A_PAGE) break;
  }
  for (const jobId of await index.liveJobs()) if (!seen.has(jobId)) yield jobId;
}

/** The report on a job that has no board: nothing, unless a sweeper is still told to look after it. */
async function withoutBoard(boards: Boards, jobId: string, repair: boolean): Promise<JobReport | undefined> {
  if ((await boards.index.liveSince(jobId)) <= WITHOUT_BOARD_MS) return undefined;
  if (repair) await boards.index.removeLive(jobId);
  const finding = { check: 'live', found: 'swept, but there is no board', expected: 'out of the live index' };
  return {
    jobId,
    tasks: 0,
    findings: [{ ...finding, repairable: true, repaired: repair }],
    more: 0,
    remaining: repair ? 0 : 1,
  };
}

/** The report on a job that was named and has no board; undefined for one that was deleted or never was. */
async function named(boards: Boards, jobId: string, repair: boolean): Promise<JobReport | undefined> {
  const found = await withoutBoard(boards, jobId, repair);
  if (found !== undefined) return found;
  // In this order: a deletion is noted before the job leaves the list.
  const isListed = await boards.index.isListed('*', jobId);
  if (!isListed || (await boards.index.wasDeleted(jobId))) return undefined;
  return { jobId, tasks: 0, findings: [], more: 0, remaining: 0, archived: true };
}

/**
 * Looks over boards on an open connection, which stays the caller's; a report a board, as they come. It may run while
 * the boards are worked on. A job that is archived is reported only when it was named. Errors: `not_found` for a job that
 * was named, `unavailable`.
 */
export async function* examineBoards(redis: RedisClient, run: DoctorRun): AsyncGenerator<JobReport> {
  const { repair = false, signal } = run;
  const boards = openBoards(redis, run.prefix);
  const examine = (jobId: string, orElse: (refusal: CrewboardError) => Promise<JobReport | undefined>) =>
    boards.examine(jobId, { repair, signal }).catch((error: unknown) => {
      if (error instanceof CrewboardError && error.code === 'not_found') return orElse(error);
      throw error;
    });
  const { jobId } = run;
  if (jobId !== undefined) {
    const report = await examine(jobId, async (refusal) => {
      const found = await named(boards, jobId, repair);
      if (found === undefined) throw refusal;
      return found;
    });
    if (report !== undefined) yield report;
    return;
  }
  for await (const listed of jobsOf(boards)) {
    signal?.throwIfAborted();
    const report = await examine(listed, () => withoutBoard(boards, listed, repair));
    if (report !== undefined) yield report;
  }
}
