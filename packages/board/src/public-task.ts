import { isoTime, type Task } from '@crewboard/contracts';
import { parseOwner } from './actors.ts';
import { statusOf } from './codes.ts';
import { type BoardHold, readinessOf } from './readiness.ts';
import type { TaskRow } from './records.ts';
import { withoutAbsent } from './without-absent.ts';

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
