import { isEnded, padColumns, shownLine, type Task, textColumns } from '@crewboard/contracts';
import { SIMULATED_MARK, showCounts, showSpend } from '../show.ts';
import { duration } from '../text.ts';
import type { Group } from './groups.ts';
import { type Paint, painter } from './paint.ts';
import type { WatchView } from './view.ts';

export interface FrameSize {
  columns: number;
  rows: number;
  hasColour: boolean;
}

const BAR_MOST = 40;
const NAME_SHARE = 0.3;
const TITLE_SHARE = 0.4;

/** How many columns of a bar `part` of `total` fills; not all of them before all are done. */
function filled(part: number, total: number, width: number): number {
  return total === 0 ? 0 : Math.floor((part / total) * width);
}

/** Completed, then failed, then the rest, `width` columns in all. */
function bar(counts: { completed: number; failed: number; total: number }, width: number, paint: Paint) {
  const done = filled(counts.completed, counts.total, width);
  const lost = filled(counts.completed + counts.failed, counts.total, width) - done;
  const rest = width - done - lost;
  return `${paint.green('█'.repeat(done))}${paint.red('▓'.repeat(lost))}${paint.dim('░'.repeat(rest))}`;
}

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
  const text = `  ${parts.join(', ')}`;
  return bar(counts, Math.max(10, Math.min(BAR_MOST, columns - text.length)), paint) + text;
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

const ago = (at: string, nowMs: number) => duration(Math.max(0, nowMs - Date.parse(at)));

function headLines(view: WatchView, columns: number, paint: Paint): string[] {
  const { job, lead, nowMs } = view;
  const line = (text: string) => shownLine(text, columns);
  const simulated = job.simulated ? ` ${SIMULATED_MARK}` : '';
  const runs = job.startedAt === undefined || isEnded(job.status) ? '' : ` for ${ago(job.startedAt, nowMs)}`;
  const budget = job.limits.budgetUsd === undefined ? '' : ` of ${job.limits.budgetUsd} USD allowed`;
  const lines = [
    paint.bold(line(`${job.title}${simulated}`)),
    line(`${job.id} ${job.status.replace('_', ' ')}${runs}`),
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

function groupLines(groups: readonly Group[], columns: number, paint: Paint): string[] {
  const most = Math.floor(columns * NAME_SHARE);
  const names = groups.map(({ name }) => shownLine(name, most));
  const nameColumns = Math.max(0, ...names.map(textColumns));
  return groups.map((group, at) => {
    const extra = [
      ...(group.running > 0 ? [`${group.running} running`] : []),
      ...(group.failed > 0 ? [`${group.failed} failed`] : []),
    ];
    const text = [`${group.completed}/${group.total}`, ...extra].join(', ');
    const width = Math.max(5, Math.min(BAR_MOST / 2, columns - nameColumns - text.length - 6));
    return `  ${padColumns(names[at] ?? '', nameColumns)}  ${bar(group, width, paint)}  ${text}`;
  });
}

/** What a running task's holder does, or why another one stands still. */
function taskState(task: Task, nowMs: number): string {
  const { status, owner, block, failure, progress } = task;
  if (status === 'failed' && failure !== undefined) return `failed (${failure.class}): ${failure.reason}`;
  if (status === 'blocked' && block !== undefined)
    return `blocked (${block.kind}): ${block.question ?? block.reason}`;
  if (status !== 'in_progress') return status.replace('_', ' ');
  const since = task.startedAt === undefined ? [] : [ago(task.startedAt, nowMs)];
  const doing = progress === undefined ? [] : [progress];
  return [`${owner?.kind ?? ''} ${owner?.id ?? ''}`.trim(), ...since, ...doing].join(', ');
}

function taskLines(tasks: readonly Task[], nowMs: number, columns: number): string[] {
  const numberColumns = Math.max(0, ...tasks.map(({ number }) => `#${number}`.length));
  const titles = tasks.map(({ title }) => shownLine(title, Math.floor(columns * TITLE_SHARE)));
  const titleColumns = Math.max(0, ...titles.map(textColumns));
  return tasks.map((task, at) => {
    const number = `#${task.number}`.padStart(numberColumns);
    const state = shownLine(taskState(task, nowMs), columns - numberColumns - titleColumns - 5);
    return `  ${number} ${padColumns(titles[at] ?? '', titleColumns)}  ${state}`;
  });
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
export function drawFrame(view: WatchView, { columns, rows, hasColour }: FrameSize): string[] {
  const paint = painter(hasColour);
  const { groups, running, troubled, nowMs, job } = view;
  const { counts } = job;
  const head = headLines(view, columns, paint).slice(0, rows);
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
