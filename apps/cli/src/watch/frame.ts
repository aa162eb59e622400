import { isEnded, shownLine, type Task } from '@crewboard/contracts';
import { markedTitle, showCounts, showSpend } from '../show.ts';
import { duration } from '../text.ts';
import { ago } from './ago.ts';
import { bar } from './bars.ts';
import { groupLines } from './group-lines.ts';
import { type Paint, painter } from './paint.ts';
import { taskLines } from './task-lines.ts';
import type { WatchView } from './view.ts';

export interface FrameSize {
  columns: number;
  rows: number;
  hasColour: boolean;
  /** Whether a key leaves: then the frame says so. */
  hasKeys?: boolean;
}

const BAR_LEAST = 10;
const BAR_SHARE = 0.5;
/** So much beside the bar is always kept: the bar must not change its length with each number. */
const PACE_COLUMNS = 48;

/** Bar, share, pace and what is left of time, if that can be told. */
function paceLine({ job, pace }: WatchView, columns: number, paint: Paint): string {
  const { counts } = job;
  const share = counts.total === 0 ? 0 : Math.floor((100 * counts.completed) / counts.total);
  const parts = [`${share} %`];
  if (pace !== undefined && !isEnded(job.status)) {
    parts.push(`${pace.perMinute.toFixed(pace.perMinute < 10 ? 1 : 0)} tasks/min`);
    // Nobody knows how long people take.
    if (pace.leftMs > 0 && counts.in_progress > 0)
      parts.push(`about ${duration(Math.max(1000, pace.leftMs))} left`);
  }
  const width = Math.max(BAR_LEAST, Math.min(Math.floor(columns * BAR_SHARE), columns - PACE_COLUMNS));
  return `${bar(counts, width, paint)}  ${shownLine(parts.join(', '), columns - width - 2)}`;
}

function leadText(lead: Task, nowMs: number): string {
  if (lead.status === 'in_progress') {
    const since = lead.startedAt === undefined ? '' : ` (started ${ago(lead.startedAt, nowMs)} ago)`;
    return lead.progress === undefined ? `at work${since}` : lead.progress;
  }
  const { readiness } = lead;
  if (readiness?.state === 'waiting') return 'waits for news from the board';
  if (readiness?.state === 'held') return `held (${readiness.cause})`;
  if (readiness?.state === 'scheduled') return 'parked until its model answers';
  return lead.status === 'failed' && lead.failure !== undefined
    ? `failed (${lead.failure.class}): ${lead.failure.reason}`
    : lead.status.replace('_', ' ');
}

function headLines(view: WatchView, { columns, hasKeys }: FrameSize, paint: Paint): string[] {
  const { job, lead, nowMs } = view;
  const line = (text: string) => shownLine(text, columns);
  const runs = job.startedAt === undefined || isEnded(job.status) ? '' : ` for ${ago(job.startedAt, nowMs)}`;
  const budget = job.limits.budgetUsd === undefined ? '' : ` of ${job.limits.budgetUsd} USD allowed`;
  const lines = [
    paint.bold(markedTitle(job, columns)),
    line(`${job.id} ${job.status.replace('_', ' ')}${runs}${hasKeys ? ' (q leaves it running)' : ''}`),
    line(showCounts(job.counts, isEnded(job.status))),
    paceLine(view, columns, paint),
    line(`Spent ${showSpend(job.spend)}${budget}`),
  ];
  if (job.statusReason !== undefined) {
    const pauses = job.pauses.length === 0 ? '' : 'Paused: ';
    lines.push(paint.yellow(line(`${pauses}${job.statusReason}`)));
  }
  if (lead !== undefined) lines.push(line(`Lead: ${leadText(lead, nowMs)}`));
  if (view.notice !== undefined) lines.push(paint.yellow(line(view.notice)));
  if (view.isReconnecting) lines.push(paint.red(line('The server does not answer: reconnecting ...')));
  return lines;
}

/** A heading with its lines, of which `room` are shown, the heading among them; empty when there is no room for two. */
function section(heading: string, lines: readonly string[], total: number, room: number): string[] {
  if (total === 0 || room < 2) return [];
  if (total <= room - 1) return [heading, ...lines.slice(0, total)];
  const shown = lines.slice(0, room - 2);
  return [heading, ...shown, `  … and ${total - shown.length} more`];
}

/** Fewer lines of a section say nothing: its heading, one line, and how many more there are. */
const SECTION_LEAST = 3;

/**
 * Shares `room` among those who want lines: the smaller wishes are met, the rest share alike. Where that is too little
 * for each, the last ones get nothing.
 */
export function shareRoom(wanted: readonly number[], room: number): number[] {
  const shares = shareAlike(wanted, room);
  const isTooLittle = shares.some((share, at) => share < Math.min(SECTION_LEAST, wanted[at] ?? 0));
  if (!isTooLittle || wanted.length < 2) return shares;
  return [...shareRoom(wanted.slice(0, -1), room), 0];
}

function shareAlike(wanted: readonly number[], room: number): number[] {
  const shares = wanted.map(() => 0);
  const bySize = wanted.map((_, at) => at).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  let left = room;
  bySize.forEach((at, taken) => {
    const share = Math.min(wanted[at] ?? 0, Math.floor(left / (bySize.length - taken)));
    shares[at] = share;
    left -= share;
  });
  return shares;
}

/**
 * Draws a job for a terminal: at most `rows` lines of at most `columns`. Titles, owners and reasons are data: nothing in
 * them becomes an escape sequence or a line of its own. Pure.
 */
export function drawFrame(view: WatchView, size: FrameSize): string[] {
  const { columns, rows, hasColour } = size;
  const paint = painter(hasColour);
  const { groups, running, troubled, nowMs, job } = view;
  const { counts } = job;
  const head = headLines(view, size, paint).slice(0, rows);
  const sections = [
    {
      heading: paint.bold('Needs a look'),
      lines: taskLines(troubled, nowMs, columns),
      total: counts.blocked + counts.in_review + counts.failed,
    },
    {
      heading: paint.bold('Running'),
      lines: taskLines(running, nowMs, columns),
      total: counts.in_progress,
    },
    { heading: paint.bold('Groups'), lines: groupLines(groups, columns, paint), total: groups.length },
  ].filter(({ total }) => total > 0);
  // One empty line above each.
  const room = rows - head.length - sections.length;
  const shares = shareRoom(
    sections.map(({ total }) => total + 1),
    Math.max(0, room),
  );
  const body = sections.flatMap(({ heading, lines, total }, at) => {
    const shown = section(heading, lines, total, shares[at] ?? 0);
    return shown.length === 0 ? [] : ['', ...shown];
  });
  return [...head, ...body];
}
