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
  JobStatus as JobStatusSchema,
  JsonValue,
  type Owner,
  OwnerKind,
  type Readiness,
  type Task,
  TaskFailure,
  TaskKey,
  TaskLimits,
  type TaskStatus,
  type Usage,
} from '@crewboard/contracts';
import { z } from 'zod';

/**
 * What the scripts store, as Node reads it. Redis data is untrusted like any other: every row is parsed here, and
 * nowhere else. Positions follow lua/lib/core.lua.
 */

const int = z.coerce.number().int();

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
const COUNTS_AT = 29;

/** Codes that make up a status or a readiness state, for list filters. */
export function codesOf(
  filter: { status?: TaskStatus; readiness?: Readiness['state'] },
  paused: boolean,
): number[] {
  const pending = [...READY_CODES, CODES.waiting, CODES.scheduled, CODES.unreachable, CODES.held];
  let codes: number[];
  if (filter.readiness === undefined) codes = [...pending, 10, 11, 12, 13, 14, 15];
  else if (paused) codes = filter.readiness === 'held' ? pending : [];
  else codes = filter.readiness === 'ready' ? READY_CODES : [CODES[filter.readiness]];
  if (filter.status === undefined) return codes;
  const wanted = filter.status === 'pending' ? pending : [CODES[filter.status]];
  return codes.filter((code) => wanted.includes(code));
}

/** The hot state of a task. */
const HotTask = z
  .array(z.union([z.string(), z.number()]))
  .min(26)
  .transform((list, context) => {
    const parsed = z
      .object({
        version: int,
        code: int,
        number: int,
        priority: int,
        executor: int,
        policy: int,
        attempt: int,
        owner: z.string(),
        failures: int,
        maxAttempts: int,
        strikes: int,
        notBefore: int,
        hold: z.string(),
        updatedAt: int,
        startedAt: int,
        endedAt: int,
        fresh: int,
        onLost: int,
        createdAt: int,
      })
      .safeParse({
        version: list[0],
        code: list[1],
        number: list[2],
        priority: list[3],
        executor: list[4],
        policy: list[5],
        attempt: list[6],
        owner: list[8],
        failures: list[9],
        maxAttempts: list[10],
        strikes: list[11],
        notBefore: list[13],
        hold: list[14],
        updatedAt: list[19],
        startedAt: list[20],
        endedAt: list[21],
        fresh: list[23],
        onLost: list[24],
        createdAt: list[25],
      });
    if (parsed.success) return parsed.data;
    context.addIssue({ code: 'custom', message: 'a task record is damaged' });
    return z.NEVER;
  });
export type HotTask = z.infer<typeof HotTask>;

const json = <T>(schema: z.ZodType<T>) =>
  z.string().transform((text, context): T => {
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      context.addIssue({ code: 'custom', message: 'damaged JSON' });
      return z.NEVER;
    }
  });
const optionalJson = <T>(schema: z.ZodType<T>) =>
  z.union([z.literal('').transform(() => undefined), json(schema)]);

/** Short texts of a task, read by lists; `v` is the format. */
export const Head = z.object({
  v: z.literal(1),
  key: TaskKey.optional(),
  title: z.string(),
  labels: z.array(z.string()),
  acceptance: z.array(AcceptanceItem),
  model: z.string().optional(),
  limits: TaskLimits.optional(),
  parent: z.string().optional(),
  replaces: z.string().optional(),
  command: Command.optional(),
  createdBy: Actor,
});
export type Head = z.infer<typeof Head>;

/** Long texts of a task, read only when one task is. */
export const Body = z.object({
  instructions: z.string().optional(),
  input: JsonValue.optional(),
  outputSchema: z.record(z.string(), JsonValue).optional(),
});
export type Body = z.infer<typeof Body>;

export const Outcome = z.object({
  summary: z.string().optional(),
  artifacts: z.array(z.string()).optional(),
  failure: TaskFailure.optional(),
  block: z.object({ kind: BlockKind, reason: z.string(), question: z.string().optional() }).optional(),
});
export type Outcome = z.infer<typeof Outcome>;

export const Output = z.object({ output: JsonValue.optional(), evidence: z.array(Evidence).optional() });
export type Output = z.infer<typeof Output>;

const UsageRow = z.union([z.array(z.never()).length(0), z.tuple([int, int, int, int, int])]);

/** A task's row as lua/lib/rows.lua makes it. */
export const TaskRow = z
  .tuple([
    z.string(),
    HotTask,
    json(Head),
    optionalJson(Outcome),
    optionalJson(Body),
    optionalJson(Output),
    z.string(),
    z.array(z.string()),
    z.union([z.string(), z.number()]),
    UsageRow,
    z.string(),
  ])
  .transform(([id, hot, head, outcome, body, output, deps, open, lease, usage, progress]) => ({
    id,
    hot,
    head,
    outcome,
    body,
    output,
    dependsOn: parseDependencies(deps),
    open,
    leaseUntil: lease === '' ? undefined : Number(lease),
    usage: parseUsage(usage),
    progress: progress === '' ? undefined : progress,
  }));
export type TaskRow = z.infer<typeof TaskRow>;

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
export const BoardRecord = z
  .array(z.union([z.string(), z.number()]))
  .min(COUNTS_AT + 23)
  .transform((list) => {
    const count = (code: number) => Number(list[COUNTS_AT + code] ?? 0);
    const sum = (codes: readonly number[]) => codes.reduce((total, code) => total + count(code), 0);
    return {
      version: Number(list[1]),
      status: JobStatusSchema.parse(list[2]),
      lead: list[3] === '' ? undefined : String(list[3]),
      lastNumber: Number(list[4]),
      cancelling: list[7] === 1,
      createdAt: Number(list[8]),
      startedAt: Number(list[9]),
      endedAt: Number(list[10]),
      graph: String(list[24]),
      news: String(list[13]),
      cursor: String(list[14]),
      pauses: list[19] === '' ? [] : String(list[19]).split(','),
      reason: String(list[21]),
      count,
      sum,
    };
  });
export type BoardRecord = z.infer<typeof BoardRecord>;

/** The counts of a board; they add up by construction, and under a pause all that is pending is held. */
export function countsOf(board: BoardRecord): Counts {
  const c = board.count;
  const ready = board.sum(READY_CODES);
  const pending = ready + c(CODES.waiting) + c(CODES.scheduled) + c(CODES.unreachable) + c(CODES.held);
  const paused = board.pauses.length > 0;
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
    ready: paused ? 0 : ready,
    waiting: paused ? 0 : c(CODES.waiting),
    scheduled: paused ? 0 : c(CODES.scheduled),
    unreachable: paused ? 0 : c(CODES.unreachable),
    held: paused ? pending : c(CODES.held),
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
  paused: boolean,
): Readiness | undefined {
  if (statusOf(task.code) !== 'pending') return undefined;
  if (paused) return { state: 'held', cause: 'pause' };
  if (task.hold === 'proposal') return { state: 'held', cause: 'proposal' };
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
export function toTask(row: TaskRow, paused: boolean): Task {
  const { hot, head, body, outcome, output } = row;
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
    readiness: readinessOf(hot, row.open, paused),
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

/** Drops keys whose value is undefined, so that answers hold only what is known. */
export function withoutAbsent<T extends object>(value: T): T {
  for (const [key, item] of Object.entries(value)) if (item === undefined) Reflect.deleteProperty(value, key);
  return value;
}

/** A row or, for an absent task, nothing. */
export const OptionalRow = z.union([
  z
    .array(z.never())
    .length(0)
    .transform(() => undefined),
  TaskRow,
]);
