import { JobStatus } from '@crewboard/contracts';
import { z } from 'zod';
import { COUNTS_AT, LAST_CODE } from './codes.ts';
import {
  type BoardRecord as BoardRecordType,
  Body,
  Head,
  type HotTask,
  Outcome,
  Output,
  parseDependencies,
  parseUsage,
  type TaskRow as TaskRowType,
} from './records.ts';
import { costOf } from './spend-sums.ts';

/**
 * Reads the lists that scripts answer. Redis data is untrusted like any other: every position is checked here, by
 * hand, because a row is read at every claim and a schema for lists costs ten times as much.
 */

function damaged(what: string): never {
  throw new TypeError(`Redis holds a damaged ${what}`);
}

function list(value: unknown, least: number, what: string): readonly unknown[] {
  return Array.isArray(value) && value.length >= least ? value : damaged(what);
}

function text(values: readonly unknown[], at: number, what: string): string {
  const value = values[at];
  return typeof value === 'string' ? value : damaged(what);
}

/** A number, which a script may have answered as text. */
function number(values: readonly unknown[], at: number, what: string): number {
  const value = values[at];
  const parsed = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : damaged(what);
}

function hotTask(value: unknown): HotTask {
  const what = 'task record';
  const values = list(value, 19, what);
  return {
    version: number(values, 0, what),
    code: number(values, 1, what),
    number: number(values, 2, what),
    priority: number(values, 3, what),
    executor: number(values, 4, what),
    policy: number(values, 5, what),
    attempt: number(values, 6, what),
    owner: text(values, 7, what),
    failures: number(values, 8, what),
    maxAttempts: number(values, 9, what),
    strikes: number(values, 10, what),
    notBefore: number(values, 11, what),
    hold: text(values, 12, what),
    updatedAt: number(values, 13, what),
    startedAt: number(values, 14, what),
    endedAt: number(values, 15, what),
    fresh: number(values, 16, what),
    onLost: number(values, 17, what),
    createdAt: number(values, 18, what),
  };
}

/** A list, or 0 for none. */
function optionalList(
  values: readonly unknown[],
  at: number,
  least: number,
  what: string,
): readonly unknown[] | undefined {
  return values[at] === 0 ? undefined : list(values[at], least, what);
}

function stored<T>(schema: z.ZodType<T>, json: string): T | undefined {
  return json === '' ? undefined : schema.parse(JSON.parse(json));
}

/** A task's body, with what a rerun has told its agents on a second line. */
function storedBody(text: string): Body | undefined {
  const end = text.indexOf('\n');
  if (end < 0) return stored(Body, text);
  const own = stored(Body, text.slice(0, end));
  const told = stored(Body, text.slice(end + 1))?.instructions;
  const instructions = [own?.instructions, told].filter((part) => part !== undefined).join('\n\n');
  return { ...own, instructions };
}

function taskRow(value: unknown): TaskRowType {
  const what = 'task row';
  const values = list(value, 12, what);
  const open = optionalList(values, 2, 0, what) ?? [];
  const usage = optionalList(values, 3, 5, 'usage') ?? [];
  const spent = optionalList(values, 4, 3, 'spend');
  const progress = text(values, 11, what);
  return {
    id: text(values, 0, what),
    hot: hotTask(values[1]),
    head: stored(Head, text(values, 6, what)) ?? damaged('task head'),
    outcome: stored(Outcome, text(values, 7, what)),
    body: storedBody(text(values, 8, what)),
    output: stored(Output, text(values, 9, what)),
    dependsOn: parseDependencies(text(values, 10, what)),
    open: open.map((_, i) => text(open, i, what)),
    leaseUntil: values[5] === '' ? undefined : number(values, 5, what),
    usage: {
      ...parseUsage(usage.map((_, i) => number(usage, i, 'usage'))),
      ...(spent === undefined ? {} : costOf(spent.slice(0, 3).map((_, i) => number(spent, i, 'spend')))),
    },
    progress: progress === '' ? undefined : progress,
  };
}

const PLAN_MODES = ['none', 'planning', 'proposed'] as const;

function boardRecord(value: unknown): BoardRecordType {
  const what = 'board record';
  const values = list(value, COUNTS_AT + LAST_CODE + 1, what);
  const count = (code: number) => number(values, COUNTS_AT + code, what);
  const pauses = text(values, 19, what);
  return {
    version: number(values, 1, what),
    status: JobStatus.parse(values[2]),
    lead: text(values, 3, what) || undefined,
    lastNumber: number(values, 4, what),
    allowsParallel: number(values, 6, what) === 1,
    cancelling: number(values, 7, what) === 1,
    createdAt: number(values, 8, what),
    startedAt: number(values, 9, what),
    endedAt: number(values, 10, what),
    news: text(values, 13, what),
    cursor: text(values, 14, what),
    pauses: pauses === '' ? [] : pauses.split(','),
    reason: text(values, 21, what),
    isFilled: text(values, 25, what) === '',
    plan: PLAN_MODES[number(values, 57, what)] ?? damaged(what),
    questions: number(values, 59, what),
    graph: String(number(values, 24, what)),
    budgetNanoUsd: number(values, 60, what),
    budgetTokens: number(values, 61, what),
    onLimit: number(values, 62, what),
    count,
    sum: (codes) => codes.reduce((total, code) => total + count(code), 0),
  };
}

function checked<T>(read: (value: unknown) => T) {
  return z.unknown().transform((value, context): T => {
    try {
      return read(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });
}

/** A task's row. */
export const TaskRow = checked(taskRow);
/** A row or, for an absent task, an empty list: nothing. */
export const OptionalRow = checked((value) =>
  list(value, 0, 'task row').length === 0 ? undefined : taskRow(value),
);
/** The board record. */
export const BoardRecord = checked(boardRecord);
