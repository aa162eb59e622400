import { type Job, textColumns } from '@crewboard/contracts';
import { markedTitle, SIMULATED_MARK } from './show.ts';
import { age, safeLine, table } from './text.ts';

/** Of a title, where no terminal sets an end. */
const TITLE_MOST = 60;
/** Of a title so much stays to be read where a terminal has room for it at all. */
const TITLE_LEAST = 24;
const GAP = 2;

const HEADINGS = ['JOB', 'STATUS', 'DONE', 'FAILED', 'CREATED'] as const;
type Heading = (typeof HEADINGS)[number];

/** What goes first where titles need its room: jobs are listed by age, and their status tells of failures. */
const DISPENSABLE: readonly Heading[] = ['CREATED', 'FAILED', 'DONE'];

interface Row {
  /** Its title is safe and short. */
  job: Pick<Job, 'title' | 'simulated'>;
  cells: Record<Heading, string | number>;
}

function rowOf(job: Job, titleMost: number, nowMs: number): Row {
  const { id, status, counts, createdAt, simulated } = job;
  return {
    job: { title: safeLine(job.title, titleMost), simulated },
    cells: {
      JOB: id,
      STATUS: status,
      DONE: `${counts.completed}/${counts.total}`,
      FAILED: counts.failed,
      CREATED: `${age(nowMs - Date.parse(createdAt))} ago`,
    },
  };
}

/** How many columns a heading takes, with the gap to the next one. */
function widthOf(heading: Heading, rows: readonly Row[]): number {
  return GAP + Math.max(heading.length, ...rows.map(({ cells }) => String(cells[heading]).length));
}

/** The headings that leave titles at least `wanted` of `columns`, or those that none can do without; and what is left. */
function headingsFor(rows: readonly Row[], columns: number, wanted: number) {
  let headings: readonly Heading[] = HEADINGS;
  let room = columns - headings.reduce((sum, heading) => sum + widthOf(heading, rows), 0);
  for (const heading of DISPENSABLE) {
    if (room >= wanted) break;
    headings = headings.filter((other) => other !== heading);
    room += widthOf(heading, rows);
  }
  return { headings, room };
}

/** The columns by which titles can be told apart, their marks with them. */
function wantedBy(rows: readonly Row[]): number {
  const mark = rows.some(({ job }) => job.simulated) ? SIMULATED_MARK.length + 1 : 0;
  return mark + Math.min(TITLE_LEAST, Math.max(...rows.map(({ job }) => textColumns(job.title))));
}

/**
 * Renders jobs as a table, titles last and made safe. On a terminal of `columns` the columns that can be spared go
 * before titles are cut short; `undefined`: in a pipe nothing goes.
 */
export function showJobs(jobs: readonly Job[], columns: number | undefined, nowMs: number): string {
  const rows = jobs.map((job) => rowOf(job, columns ?? TITLE_MOST, nowMs));
  const { headings, room } = headingsFor(rows, columns ?? Number.POSITIVE_INFINITY, wantedBy(rows));
  return table([
    [...headings, 'TITLE'],
    ...rows.map(({ job, cells }) => [
      ...headings.map((heading) => cells[heading]),
      markedTitle(job, Math.max(1, room)),
    ]),
  ]);
}
