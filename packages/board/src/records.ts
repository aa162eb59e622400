import {
  AcceptanceItem,
  Actor,
  BlockKind,
  Command,
  type Counts,
  type Dependency,
  Evidence,
  isoTime,
  type JobStatus,
  type JsonValue,
  type Owner,
  OwnerKind,
  type PaidUsage,
  type Readiness,
  type Task,
  TaskFailure,
  TaskLimits,
  type TaskStatus,
  type Usage,
} from '@crewboard/contracts';
import { z } from 'zod';

/**
 * What the scripts store, and what it means for readers; rows.ts reads it. Codes follow lua/lib/core.lua.
 */

export const CODES = {
  queued: 5,
  waiting: 6,
  scheduled: 7,
  unreachable: 8,
  held: 9,
  in_progress: 10,
  in_review: 11,
  blocked: 12,
  completed: 13,
  failed: 14,
  cancelled: 15,
  proposal: 16,
  rejected: 22,
} as const;
const READY_CODES = [0, 1, 2, 3, 4, CODES.queued, 17, 18, 19, 20, 21];
/** Proposals, accepted by nobody yet or rejected: they stand outside what is planned. */
export const OUTSIDE_CODES: readonly number[] = [CODES.proposal, CODES.rejected];
/** Where in the board record the counts by code begin. */
export const COUNTS_AT = 29;
export const LAST_CODE = 22;

/** Codes that make up a status or a readiness state, for list filters. */
export function codesOf(
  filter: { status?: TaskStatus; readiness?: Readiness['state'] },
  hold: BoardHold,
): number[] {
  const pending = [...READY_CODES, CODES.waiting, CODES.scheduled, CODES.unreachable, CODES.held];
  let codes: number[];
  if (filter.readiness === undefined) codes = [...pending, 10, 11, 12, 13, 14, 15];
  else if (hold !== undefined) codes = filter.readiness === 'held' ? [...pending, CODES.proposal] : [];
  else if (filter.readiness === 'ready') codes = READY_CODES;
  // Proposals are held too, though they stand outside the counts.
  else if (filter.readiness === 'held') codes = [CODES.held, CODES.proposal];
  else codes = [CODES[filter.readiness]];
  if (filter.status === undefined) return codes;
  const wanted = filter.status === 'pending' ? [...pending, CODES.proposal] : [CODES[filter.status]];
  return codes.filter((code) => wanted.includes(code));
}

/** The hot state of a task. */
export interface HotTask {
  version: number;
  code: number;
  number: number;
  priority: number;
  executor: number;
  policy: number;
  attempt: number;
  owner: string;
  failures: number;
  maxAttempts: number;
  strikes: number;
  notBefore: number;
  hold: string;
  updatedAt: number;
  startedAt: number;
  endedAt: number;
  fresh: number;
  onLost: number;
  createdAt: number;
}

/** Short texts of a task, read by lists; `v` is the format. */
export const Head = z.object({
  v: z.literal(1),
  key: z.string().optional(),
  title: z.string(),
  labels: z.array(z.string()),
  acceptance: z.array(AcceptanceItem),
  model: z.string().optional(),
  limits: TaskLimits.optional(),
  parent: z.string().optional(),
  replaces: z.string().optional(),
  command: Command.optional(),
  createdBy: z.object({ kind: Actor.shape.kind, id: z.string() }),
});
export type Head = z.infer<typeof Head>;

/** What JSON.parse gave: JSON by construction, so it is not walked again. */
const ParsedJson = z.custom<JsonValue>();

/** Long texts of a task, read only when one task is. */
export const Body = z.object({
  instructions: z.string().optional(),
  input: ParsedJson.optional(),
  outputSchema: z.record(z.string(), ParsedJson).optional(),
});
export type Body = z.infer<typeof Body>;

export const Outcome = z.object({
  summary: z.string().optional(),
  artifacts: z.array(z.string()).optional(),
  failure: TaskFailure.optional(),
  block: z.object({ kind: BlockKind, reason: z.string(), question: z.string().optional() }).optional(),
});
export type Outcome = z.infer<typeof Outcome>;

export const Output = z.object({ output: ParsedJson.optional(), evidence: z.array(Evidence).optional() });
export type Output = z.infer<typeof Output>;

/** A task's row as lua/lib/rows.lua makes it. */
export interface TaskRow {
  id: string;
  hot: HotTask;
  head: Head;
  outcome: Outcome | undefined;
  body: Body | undefined;
  output: Output | undefined;
  dependsOn: Dependency[];
  /** Dependencies that stand in the way of a pending task. */
  open: string[];
  leaseUntil: number | undefined;
  usage: PaidUsage;
  progress: string | undefined;
}

/** Parses a usage list of Redis; an empty one is no usage. */
export function parseUsage(list: readonly number[]): Usage {
  return {
    modelCalls: list[0] ?? 0,
    inputTokens: list[1] ?? 0,
    outputTokens: list[2] ?? 0,
    cacheReadTokens: list[3] ?? 0,
    cacheWriteTokens: list[4] ?? 0,
  };
}

/** Parses a string of fixed-width edges: a task ID and `c` or `s`. */
export function parseDependencies(text: string): Dependency[] {
  const edges: Dependency[] = [];
  for (let at = 0; at + 11 <= text.length; at += 11) {
    edges.push({ task: text.slice(at, at + 10), condition: text[at + 10] === 's' ? 'settled' : 'completed' });
  }
  return edges;
}

/** The board record. */
export interface BoardRecord {
  version: number;
  status: JobStatus;
  lead: string | undefined;
  lastNumber: number;
  cancelling: boolean;
  createdAt: number;
  startedAt: number;
  endedAt: number;
  graph: string;
  budgetNanoUsd: number;
  budgetTokens: number;
  /** As in lua/lib/core.lua. */
  onLimit: number;
  news: string;
  cursor: string;
  pauses: string[];
  reason: string;
  isFilled: boolean;
  /** Plan mode: without or over, the lead plans, a plan waits for people. */
  plan: 'none' | 'planning' | 'proposed';
  /** Questions of the lead that nobody has answered. */
  questions: number;
  /** Tasks of a code, and of some codes. */
  count: (code: number) => number;
  sum: (codes: readonly number[]) => number;
}

/** What holds every pending task of a board; the first that applies. */
export type BoardHold = 'pause' | 'approval' | undefined;

/** Returns what holds the pending tasks of a board. */
export function holdOf({ pauses, plan }: Pick<BoardRecord, 'pauses' | 'plan'>): BoardHold {
  if (pauses.length > 0) return 'pause';
  return plan === 'none' ? undefined : 'approval';
}

/** The counts of a board; they add up by construction, and under a pause or before a plan's approval all that is pending is held. */
export function countsOf(board: BoardRecord): Counts {
  const c = board.count;
  const ready = board.sum(READY_CODES);
  const pending = ready + c(CODES.waiting) + c(CODES.scheduled) + c(CODES.unreachable) + c(CODES.held);
  const isHeld = holdOf(board) !== undefined;
  const rest = {
    in_progress: c(CODES.in_progress),
    in_review: c(CODES.in_review),
    blocked: c(CODES.blocked),
    completed: c(CODES.completed),
    failed: c(CODES.failed),
    cancelled: c(CODES.cancelled),
  };
  return {
    total: pending + Object.values(rest).reduce((a, b) => a + b, 0),
    pending,
    ...rest,
    ready: isHeld ? 0 : ready,
    waiting: isHeld ? 0 : c(CODES.waiting),
    scheduled: isHeld ? 0 : c(CODES.scheduled),
    unreachable: isHeld ? 0 : c(CODES.unreachable),
    held: isHeld ? pending : c(CODES.held),
  };
}

/** The job's status as people see it: a set of pause causes shows as `paused`. */
export function jobStatusOf(board: BoardRecord): JobStatus {
  if (board.pauses.length > 0 && board.endedAt === 0) return 'paused';
  return board.status;
}

const STATUS_BY_CODE: Record<number, TaskStatus> = {
  [CODES.in_progress]: 'in_progress',
  [CODES.in_review]: 'in_review',
  [CODES.blocked]: 'blocked',
  [CODES.completed]: 'completed',
  [CODES.failed]: 'failed',
  [CODES.cancelled]: 'cancelled',
  [CODES.rejected]: 'cancelled',
};

/** A task's status by its code; every code of waiting to be claimed is `pending`. */
export function statusOf(code: number): TaskStatus {
  return STATUS_BY_CODE[code] ?? 'pending';
}

/**
 * Why a pending task can or can't be claimed: the one function behind list, claim and why. `open` are the
 * dependencies that stand in its way. Undefined when the task is not pending.
 */
export function readinessOf(
  task: { code: number; hold: string; notBefore: number },
  open: readonly string[],
  boardHold: BoardHold,
): Readiness | undefined {
  if (statusOf(task.code) !== 'pending') return undefined;
  if (boardHold === 'pause') return { state: 'held', cause: 'pause' };
  if (task.hold === 'proposal') return { state: 'held', cause: 'proposal' };
  if (boardHold === 'approval') return { state: 'held', cause: 'approval' };
  if (task.hold === 'news') return { state: 'waiting', on: ['news'] };
  if (task.code === CODES.held) return { state: 'held', cause: 'approval' };
  if (task.code === CODES.unreachable) return { state: 'unreachable', because: [...open] };
  if (task.code === CODES.waiting) return { state: 'waiting', on: [...open] };
  if (task.code === CODES.scheduled) return { state: 'scheduled', at: isoTime(task.notBefore) };
  return { state: 'ready' };
}

/** Parses "kind:id" of the scripts; the ID may hold colons. */
export function parseOwner(text: string): Owner | undefined {
  const at = text.indexOf(':');
  const kind = OwnerKind.safeParse(text.slice(0, at));
  if (at < 0 || !kind.success) return undefined;
  return { kind: kind.data, id: text.slice(at + 1) };
}

/** Parses "kind:id" of an event's `by`; anything else is the harness. */
export function parseActor(text: string): Actor {
  const at = text.indexOf(':');
  const parsed = Actor.safeParse({ kind: text.slice(0, at), id: text.slice(at + 1) });
  return parsed.success ? parsed.data : { kind: 'harness', id: 'board' };
}

const EXECUTORS = ['agent', 'command', 'external', 'human'] as const;
const POLICIES = ['none', 'evidence', 'checked', 'approved'] as const;

export const executorCode = (name: Task['executor']) => EXECUTORS.indexOf(name);
export const policyCode = (name: Task['policy']) => POLICIES.indexOf(name);

const time = (ms: number) => (ms > 0 ? isoTime(ms) : undefined);

/** A row as the public task. Absent long texts stay absent, as in lists. */
export function toTask(row: TaskRow, boardHold: BoardHold): Task {
  const { hot, head, body, outcome, output } = row;
  // The lead plans while its tasks wait for the plan's approval.
  const hold = hot.number === 0 && boardHold === 'approval' ? undefined : boardHold;
  const task: Task = {
    id: row.id,
    number: hot.number,
    key: head.key,
    version: hot.version,
    title: head.title,
    instructions: body?.instructions,
    input: body?.input,
    outputSchema: body?.outputSchema,
    status: statusOf(hot.code),
    readiness: readinessOf(hot, row.open, hold),
    owner: parseOwner(hot.owner),
    dependsOn: row.dependsOn,
    onDependencyLost: hot.onLost === 1 ? 'cancel' : 'hold',
    parent: head.parent,
    replaces: head.replaces,
    priority: hot.priority,
    labels: head.labels,
    executor: EXECUTORS[hot.executor] ?? 'agent',
    command: head.command,
    acceptance: head.acceptance,
    policy: POLICIES[hot.policy] ?? 'none',
    model: head.model,
    limits: head.limits,
    attempt: hot.attempt,
    failures: hot.failures,
    maxAttempts: hot.maxAttempts,
    leaseUntil: row.leaseUntil === undefined ? undefined : isoTime(row.leaseUntil),
    notBefore: time(hot.notBefore),
    result:
      outcome?.summary === undefined
        ? undefined
        : { summary: outcome.summary, output: output?.output, artifacts: outcome.artifacts ?? [] },
    evidence: output?.evidence,
    failure: outcome?.failure,
    block: outcome?.block,
    progress: row.progress,
    usage: row.usage,
    createdBy: head.createdBy,
    createdAt: isoTime(hot.createdAt),
    updatedAt: isoTime(hot.updatedAt),
    startedAt: time(hot.startedAt),
    endedAt: time(hot.endedAt),
  };
  return withoutAbsent(task);
}

/** A copy without the keys whose value is undefined, so that answers hold only what is known. */
export function withoutAbsent<T extends object>(value: T): T;
export function withoutAbsent(value: Record<string, unknown>): Record<string, unknown> {
  const present: Record<string, unknown> = {};
  for (const key in value) if (value[key] !== undefined) present[key] = value[key];
  return present;
}
