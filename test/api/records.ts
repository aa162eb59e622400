import {
  type BoardEvent,
  DEFAULT_LIMITS,
  type Job,
  NO_USAGE,
  type ResultLine,
  type Task,
} from '@crewboard/contracts';

export const JOB_ID = 'job_abcdefgh2345';
export const TASK_ID = 't_abcd2345';
/** Of the right shape, and never on the fake. */
export const NO_JOB_ID = 'job_zzzzzzzzzzzz';

/** A running job with one task. */
export function aJob(fields: Partial<Job> = {}): Job {
  return {
    id: JOB_ID,
    project: 'default',
    title: 'Summarise the docs',
    status: 'running',
    pauses: [],
    version: 1,
    counts: {
      total: 1,
      pending: 1,
      in_progress: 0,
      in_review: 0,
      blocked: 0,
      completed: 0,
      failed: 0,
      cancelled: 0,
      ready: 1,
      waiting: 0,
      scheduled: 0,
      unreachable: 0,
      held: 0,
    },
    spend: {
      settledUsd: 0,
      estimatedUsd: 0,
      reservedUsd: 0,
      wastedUsd: 0,
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    },
    limits: DEFAULT_LIMITS,
    simulated: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    links: {
      self: `/v1/jobs/${JOB_ID}`,
      tasks: `/v1/jobs/${JOB_ID}/tasks`,
      events: `/v1/jobs/${JOB_ID}/events`,
      result: `/v1/jobs/${JOB_ID}/result`,
    },
    ...fields,
  };
}

export function aTask(fields: Partial<Task> = {}): Task {
  return {
    id: TASK_ID,
    number: 1,
    version: 1,
    title: 'Summarise README.md',
    status: 'pending',
    readiness: { state: 'ready' },
    dependsOn: [],
    onDependencyLost: 'hold',
    priority: 2,
    labels: [],
    executor: 'agent',
    acceptance: [],
    policy: 'none',
    attempt: 0,
    failures: 0,
    maxAttempts: 3,
    usage: NO_USAGE,
    createdBy: { kind: 'user', id: 'admin' },
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    ...fields,
  };
}

/** The `n`th event of the fake's log. */
export function anEvent(n: number, fields: Partial<BoardEvent> = {}): BoardEvent {
  return {
    v: 1,
    id: `${n}-0`,
    at: '2026-01-01T00:00:00.000Z',
    type: 'task.noted',
    jobId: JOB_ID,
    by: { kind: 'harness', id: 'test' },
    data: { text: `note ${n}` },
    ...fields,
  };
}

export function aResultLine(number: number, output?: string): ResultLine {
  return {
    taskId: TASK_ID,
    number,
    title: `Page ${number}`,
    status: 'completed',
    summary: 'done',
    ...(output === undefined ? {} : { output }),
    attempts: 1,
    usage: NO_USAGE,
  };
}
