import { CrewboardError, type ErrorCode, isoTime } from '@crewboard/contracts';
import { z } from 'zod';
import { parseOwner, readinessOf, withoutAbsent } from './records.ts';

/** A script's answer: a word and what belongs to it. */
const Reply = z.array(z.unknown()).min(1);
const Current = z.looseObject({
  what: z.string().optional(),
  taskId: z.string().optional(),
  status: z.string().optional(),
  code: z.number().optional(),
  version: z.number().optional(),
  attempt: z.number().optional(),
  owner: z.string().optional(),
  hold: z.string().optional(),
  notBefore: z.number().optional(),
  job: z.string().optional(),
  pauses: z.string().optional(),
  key: z.string().optional(),
  reference: z.string().optional(),
  index: z.number().optional(),
  maxTasks: z.number().optional(),
  tasks: z.number().optional(),
  adding: z.number().optional(),
  review: z.string().optional(),
  awaits: z.literal('approval').optional(),
  plan: z.number().optional(),
  most: z.number().optional(),
  path: z.array(z.string()).optional(),
});
type Current = z.infer<typeof Current>;

interface Refusal {
  code: ErrorCode;
  detail: (current: Current) => string;
  next?: (current: Current) => string;
  allowed?: (current: Current) => string[];
}

/** What can be done with a task of a status. */
const ALLOWED: Record<string, string[]> = {
  pending: ['claim', 'edit', 'set_dependencies', 'cancel', 'approve', 'reject'],
  in_progress: ['heartbeat', 'note', 'submit', 'block', 'fail', 'release', 'edit', 'cancel'],
  in_review: ['approve', 'reject', 'edit', 'cancel'],
  blocked: ['unblock', 'edit', 'set_dependencies', 'cancel'],
  completed: ['reopen'],
  failed: ['retry', 'reopen'],
  cancelled: ['retry', 'reopen'],
};

const NOTHING = 'Nothing was changed.';
const holder = (current: Current) =>
  current.owner === undefined || current.owner === ''
    ? 'nobody'
    : (parseOwner(current.owner)?.id ?? current.owner);

/** Whose reference was refused: the task, or its place in the batch. */
const subject = (current: Current) => current.taskId ?? `tasks[${current.index}]`;

/** What each refusal of the scripts means for the caller. */
const REFUSALS: Record<string, Refusal> = {
  not_found: {
    code: 'not_found',
    detail: (c) => `no such ${c.what ?? 'task'}${c.taskId === undefined ? '' : ` ${c.taskId}`}. ${NOTHING}`,
    next: (c) => (c.what === 'job' ? 'GET /v1/jobs' : 'board_list {}'),
  },
  overtaken: {
    code: 'unavailable',
    detail: () => `another request has taken over the filling of this job. ${NOTHING} Send this one again.`,
  },
  newer_format: {
    code: 'unavailable',
    detail: () => 'this board was written by a newer version of Crewboard; upgrade this process.',
  },
  not_owner: {
    code: 'not_owner',
    detail: (c) => `this claim token never belonged to task ${c.taskId}. ${NOTHING}`,
  },
  lease_lost: {
    code: 'lease_lost',
    detail: (c) =>
      `the attempt of this claim token is over; task ${c.taskId} is ${c.status}, held by ${holder(c)}. ${NOTHING} Stop working on it.`,
  },
  terminal: {
    code: 'terminal',
    detail: (c) =>
      c.job === undefined
        ? `task ${c.taskId} is ${c.status} already. ${NOTHING}`
        : `the job is ${c.job === 'running' || c.job === 'planning' ? 'being cancelled' : c.job}. ${NOTHING}`,
  },
  stale_version: {
    code: 'stale_version',
    detail: (c) =>
      `${c.what === 'job' ? 'the job' : `task ${c.taskId}`} has changed: it is at version ${c.version} now. ${NOTHING}`,
    next: (c) => (c.what === 'job' ? 'GET /v1/jobs/:id' : `board_get {"taskId": "${c.taskId}"}`),
  },
  invalid_transition: {
    code: 'invalid_transition',
    detail: (c) =>
      `task ${c.taskId} is ${c.status}${c.review === undefined ? '' : ` (${c.review})`}: it can't do that now. ${NOTHING}`,
    allowed: (c) => ALLOWED[c.status ?? ''] ?? [],
  },
  dependency_cycle: {
    code: 'dependency_cycle',
    detail: (c) => `the dependencies form a cycle: ${(c.path ?? []).join(' -> ')}. ${NOTHING}`,
  },
  already_claimed: {
    code: 'already_claimed',
    detail: (c) => `task ${c.taskId} is held by ${holder(c)}. ${NOTHING}`,
  },
  not_ready: {
    code: 'not_ready',
    detail: (c) => `task ${c.taskId} is ${c.status} and not ready to be claimed. ${NOTHING}`,
    next: (c) => `board_get {"taskId": "${c.taskId}", "include": ["dependencies"]}`,
  },
  not_started: {
    code: 'invalid_transition',
    detail: () => `the job is held and was not started yet. ${NOTHING}`,
    next: () => 'POST /v1/jobs/:id/start',
    allowed: () => ['start', 'cancel'],
  },
  board_paused: {
    code: 'board_paused',
    detail: (c) => `the job is paused (${c.pauses}). ${NOTHING}`,
  },
  parallel_in_progress: {
    code: 'parallel_in_progress',
    detail: () => `this job runs one task at a time and one is in progress. ${NOTHING}`,
  },
  forbidden: {
    code: 'forbidden',
    detail: (c) => `task ${c.taskId} can't be claimed by this kind of holder. ${NOTHING}`,
  },
  duplicate_key: {
    code: 'duplicate_key',
    detail: (c) => `the key "${c.key}" is task ${c.taskId} already, with other content. ${NOTHING}`,
    next: (c) => `board_get {"taskId": "${c.taskId}"}`,
  },
  unknown_dependency: {
    code: 'unknown_dependency',
    detail: (c) =>
      `${c.taskId ?? `tasks[${c.index}]`} names "${c.reference}", which is no task or key of this board. ${NOTHING}`,
  },
  names_lead: {
    code: 'unknown_dependency',
    detail: (c) => `${subject(c)} names "${c.reference}", which is the lead's own task. ${NOTHING}`,
  },
  names_proposal: {
    code: 'unknown_dependency',
    detail: (c) =>
      `${subject(c)} names "${c.reference}", which is a proposal: nobody can depend on it before it is approved. ${NOTHING}`,
  },
  unknown_artifact: {
    code: 'invalid_argument',
    detail: (c) =>
      `"${c.reference}" is no artifact of this attempt: write it with write_artifact first, then name its ref or path. ${NOTHING}`,
  },
  too_many_artifacts: {
    code: 'limit_exceeded',
    detail: (c) => `one task keeps at most ${c.most} artifacts until they are submitted. ${NOTHING}`,
  },
  idempotency_mismatch: {
    code: 'idempotency_mismatch',
    detail: () =>
      `this Idempotency-Key was used for another call, or with another body, on this board. ${NOTHING} Use a new key.`,
  },
  request_mismatch: {
    code: 'idempotency_mismatch',
    detail: (c) =>
      `this requestId was used for another call than this one on task ${c.taskId}. ${NOTHING} Use a new one.`,
  },
  no_lead: {
    code: 'invalid_argument',
    detail: () => `this job has no lead: name a task as the target. ${NOTHING}`,
  },
  too_many_messages: {
    code: 'limit_exceeded',
    detail: (c) => `${c.most} messages wait to be delivered in this job already. ${NOTHING} Try again later.`,
  },
  plan_mode: {
    code: 'plan_mode',
    detail: () => `a person has to approve the plan first. ${NOTHING}`,
    next: () => 'submit_plan {"tasks": [...]}',
  },
  not_planning: {
    code: 'invalid_transition',
    detail: () => `no plan is asked for: this job needs none, or it is approved. ${NOTHING}`,
    next: () => 'board_plan {"ops": [...]}',
  },
  no_plan: {
    code: 'invalid_transition',
    detail: () => `no plan of this job waits for approval. ${NOTHING}`,
  },
  stale_plan: {
    code: 'stale_version',
    detail: (c) => `the plan has changed: it is at version ${c.plan} now. ${NOTHING}`,
  },
  limit_exceeded: {
    code: 'limit_exceeded',
    detail: (c) =>
      `the board has ${c.tasks} tasks of at most ${c.maxTasks}; ${c.adding} more do not fit. ${NOTHING}`,
  },
};

/** The state that a refusal shows: of its task, or the version of its job. */
function shownState(current: Current) {
  if (current.what === 'job' && current.version !== undefined) return { version: current.version };
  if (current.status === undefined || current.code === undefined) return undefined;
  return withoutAbsent({
    taskId: current.taskId,
    status: current.status,
    version: current.version,
    attempt: current.attempt,
    owner: parseOwner(current.owner ?? ''),
    readiness: readinessOf(
      { code: current.code, hold: current.hold ?? '', notBefore: current.notBefore ?? 0 },
      [],
      current.awaits,
    ),
    notBefore: current.notBefore ? isoTime(current.notBefore) : undefined,
  });
}

/** The error that a script's refusal stands for, with the task's state now. */
export function refusal(word: string, currentJson: string): CrewboardError {
  const current = Current.parse(JSON.parse(currentJson));
  const meaning = REFUSALS[word];
  if (meaning === undefined) return new CrewboardError('unavailable', `the board answered "${word}"`);
  return new CrewboardError(
    meaning.code,
    meaning.detail(current),
    withoutAbsent({
      current: shownState(current),
      next: meaning.next?.(current),
      allowed: meaning.allowed?.(current),
      index: current.index,
      cycle: current.path,
      key: current.key,
      reference: current.reference,
    }),
  );
}

/**
 * Parses a script's reply: throws the refusal's error, else returns the word and the rest.
 * The words are checked by the caller's schema.
 */
export function parseReply<T>(reply: unknown, schema: z.ZodType<T>): T {
  const list = Reply.parse(reply);
  if (list[0] === 'refused') throw refusal(String(list[1]), String(list[2]));
  return schema.parse(list);
}

const UNAVAILABLE =
  /OOM|LOADING|MISCONF|READONLY|CLUSTERDOWN|TRYAGAIN|BUSY|NOAUTH|Connection is closed|ECONN|ETIMEDOUT|EPIPE|max retries|Stream isn't writeable|Command timed out|None of startup nodes/i;

/** Maps a failure of Redis itself to `unavailable`; anything else (a refusal, a bug) goes through unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof CrewboardError || !(error instanceof Error)) return error;
  if (!UNAVAILABLE.test(error.message) && error.name !== 'MaxRetriesPerRequestError') return error;
  const full = error.message.includes('OOM');
  return new CrewboardError(
    'unavailable',
    full
      ? 'Redis is out of memory. Nothing was changed. Raise maxmemory or remove ended jobs, then try again.'
      : 'Redis can not be reached or can not take writes. Try again in a moment.',
    {},
    { cause: error },
  );
}

/** True when `error` says that the attempt of a token is over. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof CrewboardError && error.code === 'lease_lost';
}
