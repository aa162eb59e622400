import { CrewboardError, type ErrorCode, type NextCall, shownLine } from '@crewboard/contracts';
import { parseOwner } from './actors.ts';
import type { TaskFacts } from './refusal-facts.ts';
import type { Current, RefusedReply } from './replies.ts';
import { withoutAbsent } from './without-absent.ts';

/** A refused task as its facts know it, or its ID alone where they could not be read. */
type Known = Current & { name: string; where: string };

interface Refusal {
  code: ErrorCode;
  detail: (current: Known) => string;
  next?: (current: Known) => NextCall;
  /** Undefined where it can't be told; absent: by the task's facts. */
  allowed?: (current: Known) => string[] | undefined;
  /** The field that is wrong, and what would fit there. */
  path?: string | ((current: Known) => string);
  fits?: string;
}

/** Of one text of others in a detail, in columns. */
const QUOTED_MOST = 200;
const quoted = (text: string | undefined) => `"${shownLine(text ?? '', QUOTED_MOST)}"`;

const holder = ({ owner = '' }: Current) =>
  owner === '' ? 'nobody' : shownLine(parseOwner(owner)?.id ?? owner, QUOTED_MOST);

/** How attempts end, by their outcome. */
const ENDS: Record<string, string> = {
  completed: 'its result was handed in',
  released: 'it was given back',
  parked: 'it was parked',
  expired: 'its lease ran out',
  blocked: 'it was blocked',
  rejected: 'its result was rejected',
};

/** What became of the attempt whose token was sent, and of the task since. */
function lost(c: Known): string {
  const which =
    c.lost === undefined ? 'the attempt of this claim token' : `attempt ${c.lost} of task ${c.name}`;
  const how =
    c.outcome === undefined || c.outcome === '' ? '' : `: ${ENDS[c.outcome] ?? `it was ${c.outcome}`}`;
  const by = c.lostBy === undefined ? '' : `, held by ${holder({ owner: c.lostBy })}`;
  const now =
    c.status === 'in_progress'
      ? `is held by ${holder(c)} now, in attempt ${c.attempt}`
      : `is ${c.status ?? 'no longer held'} now`;
  return `${which} is over${how}${by}. The task ${now}. Stop working on it.`;
}

/** Whose reference was refused: the task, or its place in the batch. */
const subject = (current: Current) => current.taskId ?? `tasks[${current.index}]`;

/** What each refusal of the scripts means for the caller. */
const REFUSALS: Record<string, Refusal> = {
  not_found: {
    code: 'not_found',
    detail: (c) =>
      `no such ${c.what ?? 'task'}${c.taskId === undefined ? '' : ` ${shownLine(c.taskId, QUOTED_MOST)}`}.`,
    next: (c) => ({ call: c.what === 'job' ? 'list_jobs' : 'list_tasks' }),
  },
  overtaken: {
    code: 'unavailable',
    detail: () =>
      `another request has taken over the filling of this job. Nothing was changed. Send this one again.`,
  },
  newer_format: {
    code: 'unavailable',
    detail: () => 'this board was written by a newer version of Crewboard; upgrade this process.',
  },
  not_owner: {
    code: 'not_owner',
    detail: (c) => `this claim token never belonged to task ${c.name}.`,
  },
  lease_lost: {
    code: 'lease_lost',
    detail: lost,
    next: (c) => ({ call: c.job === undefined ? 'claim' : 'read_job' }),
  },
  terminal: {
    code: 'terminal',
    detail: (c) =>
      c.job === undefined
        ? `task ${c.name} is ${c.status} already.`
        : `the job is ${c.job === 'running' || c.job === 'planning' ? 'being cancelled' : c.job}.`,
  },
  stale_version: {
    code: 'stale_version',
    detail: (c) =>
      `${c.what === 'job' ? 'the job' : `task ${c.name}`} has changed: it is at version ${c.version} now.`,
    next: (c) =>
      c.what === 'job' ? { call: 'read_job' } : withoutAbsent({ call: 'read_task', taskId: c.taskId }),
  },
  invalid_transition: {
    code: 'invalid_transition',
    detail: (c) =>
      `task ${c.name} ${c.where}${c.review === undefined ? '' : ` (waits for ${c.review})`}: that can't be done with it now.`,
  },
  fixed_dependencies: {
    code: 'invalid_transition',
    detail: (c) =>
      `"dependsOn" of task ${c.name} can't be changed now, for it ${c.where}. The rest of it can.`,
    path: 'dependsOn',
  },
  two_conditions: {
    code: 'invalid_argument',
    detail: (c) =>
      `${subject(c)} names ${quoted(c.reference)} a second time as a dependency, with another condition: name it once.`,
    path: (c) => (c.index === undefined ? 'dependsOn' : `tasks[${c.index}].dependsOn`),
  },
  dependency_cycle: {
    code: 'dependency_cycle',
    detail: (c) => `the dependencies form a cycle: ${(c.path ?? []).join(' -> ')}.`,
  },
  already_claimed: {
    code: 'already_claimed',
    detail: (c) => `task ${c.name} is held by ${holder(c)}.`,
  },
  not_ready: { code: 'not_ready', detail: (c) => `task ${c.name} ${c.where}.` },
  unstarted: {
    code: 'not_ready',
    detail: (c) => `task ${c.name} ${c.where}.`,
    next: () => ({ call: 'start_job' }),
  },
  not_started: {
    code: 'invalid_transition',
    detail: () => `the job is held and was not started yet.`,
    next: () => ({ call: 'start_job' }),
    allowed: () => ['start', 'cancel'],
  },
  board_paused: {
    code: 'board_paused',
    detail: (c) => `the job is paused (${c.pauses}).`,
  },
  parallel_in_progress: {
    code: 'parallel_in_progress',
    detail: (c) =>
      `this job runs one task at a time, and ${c.running === undefined ? 'one' : `task ${c.running}`} is in progress.`,
    next: (c) => withoutAbsent({ call: 'read_task', taskId: c.running }),
    allowed: () => [],
  },
  forbidden: {
    code: 'forbidden',
    detail: (c) => `task ${c.name} can't be claimed by this kind of holder.`,
  },
  duplicate_key: {
    code: 'duplicate_key',
    detail: (c) => `the key ${quoted(c.key)} is task ${c.name} already, with other content.`,
    next: (c) => withoutAbsent({ call: 'read_task', taskId: c.taskId }),
  },
  unknown_dependency: {
    code: 'unknown_dependency',
    detail: (c) =>
      `${c.taskId ?? `tasks[${c.index}]`} names ${quoted(c.reference)}, which is no task or key of this board.`,
  },
  names_lead: {
    code: 'unknown_dependency',
    detail: (c) => `${subject(c)} names ${quoted(c.reference)}, which is the lead's own task.`,
  },
  names_proposal: {
    code: 'unknown_dependency',
    detail: (c) =>
      `${subject(c)} names ${quoted(c.reference)}, which is a proposal: nobody can depend on it before it is approved.`,
  },
  unknown_artifact: {
    code: 'invalid_argument',
    detail: (c) =>
      `${quoted(c.reference)} is no artifact of this attempt: name the ref or path of one that it has stored, or leave it out.`,
    next: () => ({ call: 'list_artifacts' }),
  },
  too_many_artifacts: {
    code: 'limit_exceeded',
    detail: (c) => `one task keeps at most ${c.most} artifacts until they are submitted.`,
  },
  idempotency_mismatch: {
    code: 'idempotency_mismatch',
    detail: () =>
      `this Idempotency-Key was used for another call, or with another body, on this board. Use a new key.`,
  },
  request_mismatch: {
    code: 'idempotency_mismatch',
    detail: (c) => `this requestId was used for another call than this one on task ${c.name}. Use a new one.`,
    next: () => ({ call: 'again', with: 'a new requestId' }),
  },
  no_lead: {
    code: 'invalid_argument',
    detail: () => `this job has no lead: name a task as the target.`,
    next: () => ({ call: 'list_tasks' }),
    path: 'target',
    fits: 't_4kx9m2ab',
  },
  too_many_messages: {
    code: 'limit_exceeded',
    detail: (c) => `${c.most} messages wait to be delivered in this job already. Try again later.`,
  },
  plan_mode: {
    code: 'plan_mode',
    detail: () => `a person has to approve the plan first.`,
    next: () => ({ call: 'submit_plan' }),
  },
  not_planning: {
    code: 'invalid_transition',
    detail: () => `no plan is asked for: this job needs none, or it is approved.`,
    next: () => ({ call: 'read_job' }),
  },
  nothing_matches: {
    code: 'not_found',
    detail: () =>
      `no ended task of this job matches "where". Nothing was changed. List its tasks, and name what they have.`,
    next: () => ({ call: 'list_tasks' }),
    path: 'where',
  },
  other_count: {
    code: 'invalid_argument',
    detail: (c) =>
      `${c.found === 1 ? '1 task matches' : `${c.found} tasks match`} "where", and expectCount is ${c.expected}. Nothing was changed. Look which ones match, or send the right number.`,
    path: 'expectCount',
  },
  no_plan: {
    code: 'invalid_transition',
    detail: () => `no plan of this job waits for approval.`,
  },
  stale_plan: {
    code: 'stale_version',
    detail: (c) => `the plan has changed: it is at version ${c.plan} now.`,
    next: () => ({ call: 'read_job' }),
  },
  limit_exceeded: {
    code: 'limit_exceeded',
    detail: (c) => `the board has ${c.tasks} tasks of at most ${c.maxTasks}; ${c.adding} more do not fit.`,
  },
};

/** The error that a script's refusal stands for; `facts`: of its task as it is now, where it is about one. */
export function refusal({ word, current }: RefusedReply, facts: TaskFacts | undefined): CrewboardError {
  const meaning = REFUSALS[word];
  if (meaning === undefined) return new CrewboardError('unavailable', `the board answered "${word}"`);
  const known: Known = {
    ...current,
    name: facts?.name ?? current.taskId ?? '',
    where: facts?.where ?? `is ${current.status}`,
  };
  const version = current.plan ?? (current.what === 'job' ? current.version : undefined);
  return new CrewboardError(
    meaning.code,
    meaning.detail(known),
    withoutAbsent({
      current: version === undefined ? facts?.current : { version },
      next: meaning.next?.(known),
      allowed: meaning.allowed === undefined ? facts?.allowed : meaning.allowed(known),
      path: typeof meaning.path === 'function' ? meaning.path(known) : meaning.path,
      fits: meaning.fits,
      index: current.index,
      cycle: current.path,
      key: current.key,
      reference: current.reference,
      found: current.found,
      expected: current.expected,
    }),
  );
}
