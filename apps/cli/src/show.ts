import {
  type Counts,
  isEnded,
  type Job,
  type JobResult,
  type JsonValue,
  type Spend,
  shownLine,
  textColumns,
} from '@crewboard/contracts';
import { plural, safeJson, safeLine, safeText, table } from './text.ts';

type Row = Record<string, string | number | boolean | null>;

const MAX_CELL = 60;
/** Shorter cells tell nothing. */
const LEAST_CELL = 12;

function isRecord(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRow(value: JsonValue): value is Row {
  return (
    isRecord(value) && Object.values(value).every((field) => typeof field !== 'object' || field === null)
  );
}

function cell(value: Row[string] | undefined, most = MAX_CELL): string | number {
  if (typeof value === 'number') return value;
  return value === undefined || value === null ? '' : safeLine(String(value), most);
}

/** The rows as a table, its texts cut until it fits `columns` if that can be. */
function showRows(rows: readonly Row[], columns: number): string {
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cutTo = (most: number) =>
    table([
      fields.map((field) => safeLine(field, most)),
      ...rows.map((row) => fields.map((field) => cell(row[field], most))),
    ]);
  const fits = (shown: string) => shown.split('\n').every((line) => textColumns(line) <= columns);
  for (let most = MAX_CELL; most > LEAST_CELL; most -= 4) {
    const shown = cutTo(most);
    if (fits(shown)) return shown;
  }
  return cutTo(LEAST_CELL);
}

function showField(name: string, value: JsonValue, columns: number): string {
  const label = safeLine(name, MAX_CELL);
  if (Array.isArray(value) && value.length > 0 && value.every(isRow))
    return `${label}\n${showRows(value, columns)}`;
  if (isRow(value)) {
    const fields = Object.entries(value).map(([key, field]) => `${safeLine(key, MAX_CELL)} ${cell(field)}`);
    return `${label}: ${fields.join(', ')}`;
  }
  return `${label}: ${typeof value === 'string' ? safeText(value) : safeJson(value)}`;
}

/**
 * Renders a job's output for people: lists of flat objects as tables of at most `columns` where their texts can be cut
 * so far, the rest as text or JSON.
 */
export function showOutput(output: JsonValue, columns = Number.POSITIVE_INFINITY): string {
  if (Array.isArray(output) && output.length > 0 && output.every(isRow)) return showRows(output, columns);
  if (!isRecord(output))
    return safeText(typeof output === 'string' ? output : JSON.stringify(output, null, 2));
  return Object.entries(output)
    .map(([name, value]) => showField(name, value, columns))
    .join('\n\n');
}

/** The statuses, and in the place of "pending" why such a task is not running. */
const COUNTED = [
  'failed',
  'cancelled',
  'unreachable',
  'blocked',
  'in_review',
  'in_progress',
  'ready',
  'waiting',
  'scheduled',
  'held',
] as const;

/**
 * Such as "12 of 40 tasks completed, 2 failed, 8 in progress, 18 waiting". In a job that has ended, what is pending
 * will never run: all of it counts as unreachable, also what waits for an unreachable task.
 */
export function showCounts(counts: Counts, hasEnded: boolean): string {
  const { pending } = counts;
  const shown = hasEnded
    ? { ...counts, unreachable: pending, ready: 0, waiting: 0, scheduled: 0, held: 0 }
    : counts;
  const rest = COUNTED.filter((name) => shown[name] > 0).map(
    (name) => `${shown[name]} ${name.replace('_', ' ')}`,
  );
  return [`${counts.completed} of ${plural(counts.total, 'task')} completed`, ...rest].join(', ');
}

/** Such as "0.42 USD, 12,000 tokens in, 900 out". */
export function showSpend(spend: Spend): string {
  const usd = spend.settledUsd + spend.estimatedUsd;
  const number = (value: number) => value.toLocaleString('en');
  const read = spend.inputTokens + spend.cacheReadTokens + spend.cacheWriteTokens;
  return `${usd.toFixed(usd < 1 ? 4 : 2)} USD, ${number(read)} tokens in, ${number(spend.outputTokens)} out`;
}

/** Said with every result of a simulated job; nobody may take it for a real one. */
export const SIMULATED = 'SIMULATED: made by the built-in model, not by a real one.';

/** Said beside the name of a simulated job. */
export const SIMULATED_MARK = '(simulated)';
const SIMULATED_SHORT = '(sim)';
/** Less of a title tells nothing. */
const TITLE_LEAST = 10;

/** A job's title in at most `columns`, and that the job is simulated: the title is cut, the mark is not. */
export function markedTitle({ title, simulated }: Pick<Job, 'title' | 'simulated'>, columns: number): string {
  if (!simulated) return shownLine(title, columns);
  const mark = columns > SIMULATED_MARK.length + TITLE_LEAST ? SIMULATED_MARK : SIMULATED_SHORT;
  return `${shownLine(title, Math.max(1, columns - mark.length - 1))} ${mark}`;
}

/** One line on a job's state: "running: 12 of 40 tasks completed, 8 in progress". */
export function showState(job: Job): string {
  const reason = job.statusReason === undefined ? '' : ` (${safeLine(job.statusReason)})`;
  return `${job.status}${reason}: ${showCounts(job.counts, isEnded(job.status))}`;
}

/** One line for a job that moves: as {@link showState}, the counts before what may be cut. */
export function showProgress(job: Job): string {
  const reason = job.statusReason === undefined ? '' : ` (${safeLine(job.statusReason)})`;
  return `${job.status}: ${showCounts(job.counts, isEnded(job.status))}${reason}`;
}

/** Says in one line which job it is and how it stands. */
export function showJob(job: Job): string {
  return `${job.id} ${showState(job)}${job.simulated ? ` ${SIMULATED_MARK}` : ''}`;
}

/**
 * Renders an ended job for people: summary, output, what failed if that is told, then the honest counts, status and
 * spend; its tables in `columns`, where a terminal has some.
 */
export function showResult(
  job: Job,
  result: JobResult,
  { failed, columns }: { failed?: string | undefined; columns?: number | undefined } = {},
): string {
  const parts: string[] = [];
  if (result.summary !== undefined) parts.push(safeText(result.summary));
  if (result.output !== undefined) parts.push(showOutput(result.output, columns));
  if (failed !== undefined) parts.push(failed);
  const simulated = result.simulated ? ` ${SIMULATED}` : '';
  parts.push(`Job ${job.id} ${showState(job)}.${simulated}\nSpent ${showSpend(result.spend)}.`);
  return parts.join('\n\n');
}
