import type { BoardSnapshot, TaskLine } from './board-snapshot.ts';
import type { Counts } from './job.ts';
import { markdownText, padColumns, shownLine, textColumns } from './shown-text.ts';
import type { TaskStatus } from './task-states.ts';

export interface RenderOptions {
  format: 'markdown' | 'plain' | 'ansi';
  /** What stands together; default `parent`. Either way a task's place says nothing about what it waits for. */
  groupBy?: 'parent' | 'status';
  /** Columns of a line (Markdown: of a title), at least 40; default 100. */
  width?: number;
  /**
   * Lines in all, but never less than the head and two; what does not fit is counted in the last one. Progress is shown
   * where all lines fit.
   */
  maxLines?: number;
}

/** One line to come: its task, how deep it stands in its group, and how many tasks stand below it. */
interface Row {
  task: TaskLine;
  depth: number;
  below?: { done: number; total: number };
}

interface Shape {
  width: number;
  withProgress: boolean;
}

const WIDTH = 100;
const WIDTH_LEAST = 40;
const TITLE_LEAST = 8;
/** Of a terminal's line, at most: states are short, and owners and dependencies must not crowd out the title. */
const STATE_SHARE = 0.4;
/** Lines below the head, at least. */
const LINES_LEAST = 2;
const DEPTH_MOST = 4;
const NAMED_MOST = 5;

const MARKS: Record<TaskStatus, { plain: string; sign: string; colour: number }> = {
  pending: { plain: '[ ]', sign: '☐', colour: 90 },
  in_progress: { plain: '[>]', sign: '▶', colour: 33 },
  in_review: { plain: '[?]', sign: '◇', colour: 36 },
  blocked: { plain: '[!]', sign: '■', colour: 35 },
  completed: { plain: '[x]', sign: '☑', colour: 32 },
  failed: { plain: '[#]', sign: '✗', colour: 31 },
  cancelled: { plain: '[-]', sign: '⊘', colour: 90 },
};
/** The order in which a board by status shows them: what people must act on first. */
export const STATUS_ORDER: readonly TaskStatus[] = [
  'blocked',
  'in_review',
  'in_progress',
  'pending',
  'failed',
  'cancelled',
  'completed',
];

const words = (status: string) => status.replace('_', ' ');

/** What stands outside the counts: proposals that nobody has accepted, rejected ones among them. */
function proposalsText({ tasks, more, counts }: BoardSnapshot): string {
  const proposals = tasks.length + more - counts.total;
  return proposals > 0 ? ` and ${proposals} proposal${proposals === 1 ? '' : 's'}` : '';
}

/** Such as "12 tasks and 2 proposals: 3 completed, 2 in progress, 7 pending (2 ready, 5 waiting)". */
function countsLine(snapshot: BoardSnapshot): string {
  const { counts } = snapshot;
  const named = (names: readonly (keyof Counts)[]) =>
    names.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${words(name)}`);
  const parts = named(['completed', 'in_progress', 'in_review', 'blocked', 'failed', 'cancelled', 'pending']);
  const ways = named(['ready', 'waiting', 'scheduled', 'unreachable', 'held']);
  const total = `${counts.total} task${counts.total === 1 ? '' : 's'}${proposalsText(snapshot)}`;
  if (parts.length === 0) return total;
  return `${total}: ${parts.join(', ')}${ways.length === 0 ? '' : ` (${ways.join(', ')})`}`;
}

function names(ids: readonly string[], numbers: ReadonlyMap<string, number>): string {
  const shown = ids.slice(0, NAMED_MOST).map((id) => {
    const number = numbers.get(id);
    return number === undefined ? id : `#${number}`;
  });
  const rest = ids.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function readinessText(
  readiness: NonNullable<TaskLine['readiness']>,
  numbers: ReadonlyMap<string, number>,
): string {
  switch (readiness.state) {
    case 'ready':
      return 'ready';
    case 'held':
      return `held (${readiness.cause})`;
    case 'scheduled':
      return `scheduled at ${readiness.at}`;
    case 'unreachable':
      return readiness.because.length === 0
        ? 'unreachable'
        : `unreachable because of ${names(readiness.because, numbers)}`;
    case 'waiting':
      return readiness.on.length === 0 ? 'waiting' : `waiting on ${names(readiness.on, numbers)}`;
  }
}

/** What a line says after the title. */
function stateText(task: TaskLine, numbers: ReadonlyMap<string, number>): string {
  const parts = [task.readiness === undefined ? words(task.status) : readinessText(task.readiness, numbers)];
  if (task.status === 'blocked' && task.block !== undefined) parts[0] = `blocked (${task.block.kind})`;
  if (task.status === 'failed' && task.failure !== undefined) parts[0] = `failed (${task.failure.class})`;
  if (task.owner !== undefined) parts.push(`${task.owner.kind} ${task.owner.id}`);
  if (task.failures > 0 && task.status !== 'failed') parts.push(`failed ${task.failures} times before`);
  return parts.join(', ');
}

/** Tasks below their parents, parents in plan order. A parent that is not shown, or one's own child, groups nothing. */
function byParent(tasks: readonly TaskLine[]): Row[] {
  const known = new Set(tasks.map(({ id }) => id));
  const children = new Map<string, TaskLine[]>();
  const roots: TaskLine[] = [];
  for (const task of tasks) {
    const siblings = task.parent === undefined ? undefined : children.get(task.parent);
    if (task.parent === undefined || !known.has(task.parent)) roots.push(task);
    else if (siblings === undefined) children.set(task.parent, [task]);
    else siblings.push(task);
  }
  const rows: Row[] = [];
  const placed = new Set<string>();
  const place = (first: TaskLine) => {
    const next: Row[] = [{ task: first, depth: 0 }];
    for (let row = next.pop(); row !== undefined; row = next.pop()) {
      if (placed.has(row.task.id)) continue;
      placed.add(row.task.id);
      const below = children.get(row.task.id) ?? [];
      const done = below.filter(({ status }) => status === 'completed').length;
      rows.push(below.length === 0 ? row : { ...row, below: { done, total: below.length } });
      const depth = Math.min(row.depth + 1, DEPTH_MOST);
      for (const task of below.toReversed()) next.push({ task, depth });
    }
  };
  for (const task of roots) place(task);
  // Parents may stand in a circle, for they only group.
  for (const task of tasks) place(task);
  return rows;
}

function byStatus(tasks: readonly TaskLine[]): Row[] {
  return STATUS_ORDER.flatMap((status) => tasks.filter((task) => task.status === status)).map((task) => ({
    task,
    depth: 0,
  }));
}

function titleCell({ task, below }: Row, most: number): string {
  const counted = below === undefined ? '' : ` [${below.done}/${below.total}]`;
  return `${shownLine(task.title, Math.max(TITLE_LEAST, most - counted.length))}${counted}`;
}

/** What the holder of a task says of its own work, such as the state of its checklist; of any other it is old. */
function progressOf({ status, progress = '' }: TaskLine): string | undefined {
  return status === 'in_progress' && progress.trim() !== '' ? progress : undefined;
}

function markdownRows(
  rows: readonly Row[],
  states: readonly string[],
  { width, withProgress }: Shape,
): string[] {
  return rows.flatMap((row, i) => {
    const box = row.task.status === 'completed' ? '[x]' : '[ ]';
    const title = markdownText(titleCell(row, width));
    const state = markdownText(shownLine(states[i] ?? '', width));
    const line = `${'  '.repeat(row.depth)}- ${box} #${row.task.number} ${title} (${state})`;
    const progress = withProgress ? progressOf(row.task) : undefined;
    if (progress === undefined) return [line];
    // A word of ours goes first: a text that begins a list of its own would be markup there.
    return [line, `${'  '.repeat(row.depth + 1)}- progress: ${markdownText(shownLine(progress, width))}`];
  });
}

function terminalRows(
  rows: readonly Row[],
  states: readonly string[],
  format: 'plain' | 'ansi',
  { width, withProgress }: Shape,
): string[] {
  const numberColumns = Math.max(0, ...rows.map(({ task }) => `#${task.number}`.length));
  const markOf = ({ task }: Row) => {
    const { plain, sign, colour } = MARKS[task.status];
    return format === 'ansi' ? `\u001b[${colour}m${sign}\u001b[0m` : plain;
  };
  // Mark, number and their spaces, and two between title and state.
  const free = width - (format === 'ansi' ? 1 : 3) - numberColumns - 4;
  const stateMost = Math.floor(free * STATE_SHARE);
  const shownStates = states.map((state) => shownLine(state, stateMost));
  const titleMost = free - Math.max(0, ...shownStates.map(textColumns));
  const titles = rows.map((row) => '  '.repeat(row.depth) + titleCell(row, titleMost - row.depth * 2));
  const titleColumns = Math.max(0, ...titles.map(textColumns));
  return rows.flatMap((row, i) => {
    const number = `#${row.task.number}`.padStart(numberColumns);
    const line = `${markOf(row)} ${number} ${padColumns(titles[i] ?? '', titleColumns)}  ${shownStates[i] ?? ''}`;
    const progress = withProgress ? progressOf(row.task) : undefined;
    if (progress === undefined) return [line];
    // Below the title, a step further in.
    const indent = width - free - 2 + (row.depth + 1) * 2;
    return [line, ' '.repeat(indent) + shownLine(progress, width - indent)];
  });
}

/**
 * Renders a board for people: title, counts, then a line a task with its mark, number, title, state, owner and what it
 * waits for, and below one in progress what its holder says of it. Pure. Titles, owners and progress are data: nothing in
 * them becomes markup, an escape sequence or a line of its own.
 */
export function renderBoard(snapshot: BoardSnapshot, options: RenderOptions): string {
  const { format, groupBy = 'parent', maxLines = Number.POSITIVE_INFINITY } = options;
  const width = Math.max(WIDTH_LEAST, options.width ?? WIDTH);
  const title = shownLine(snapshot.title, width);
  const state = `${snapshot.jobId} ${words(snapshot.status)}, ${countsLine(snapshot)}`;
  const isMarkdown = format === 'markdown';
  const head = isMarkdown ? [`# ${markdownText(title)}`, '', markdownText(state), ''] : [title, state];

  const numbers = new Map(snapshot.tasks.map(({ id, number }) => [id, number]));
  const rows = groupBy === 'parent' ? byParent(snapshot.tasks) : byStatus(snapshot.tasks);
  const room = Math.max(LINES_LEAST, maxLines - head.length);
  const fits = rows.length + (snapshot.more > 0 ? 1 : 0) <= room;
  const shown = fits ? rows : rows.slice(0, room - 1);
  const hidden = rows.length - shown.length + snapshot.more;
  const states = shown.map(({ task }) => stateText(task, numbers));
  const progressLines = rows.filter(({ task }) => progressOf(task) !== undefined).length;
  const shape = { width, withProgress: fits && rows.length + progressLines + (hidden > 0 ? 1 : 0) <= room };
  const lines = isMarkdown ? markdownRows(shown, states, shape) : terminalRows(shown, states, format, shape);
  if (hidden > 0) lines.push(`${isMarkdown ? '- ' : ''}… and ${hidden} more`);
  return [...head, ...lines].join('\n');
}
