import { type Boards, type Hold, withoutAbsent } from '@crewboard/board';
import {
  CrewboardError,
  type FailureClass,
  type HeartbeatAnswer,
  type HolderAnswer,
  type Task,
} from '@crewboard/contracts';
import { findTask } from './find-task.ts';
import type { LoopGuard } from './loop-guard.ts';
import { takeNotices } from './messages/notices.ts';
import type { HolderCalls, Scope } from './service.ts';
import type { Settings } from './settings.ts';
import { nextFromOutside, refuseUnfitSubmission } from './submission.ts';
import { visibleJob } from './visible-job.ts';

export interface HolderDependencies {
  boards: Boards;
  settings: Settings;
  guard: LoopGuard;
}

/** Longest pause before a failed task is tried again. */
const RETRY_DELAY_MOST_MS = 60_000;
/** What another attempt would only meet again. */
const NOT_RETRIED: readonly FailureClass[] = ['refused', 'truncated', 'context'];

/** What every call of a holder names. */
interface HolderCall {
  claimToken?: string | undefined;
  requestId?: string | undefined;
  version?: number | undefined;
}

interface Held {
  task: Task;
  hold: Hold;
  /** Empty: the call can't be repeated safely. */
  requestId: string;
}

function requireToken({ claimToken }: HolderCall): string {
  if (claimToken !== undefined) return claimToken;
  throw new CrewboardError(
    'invalid_argument',
    'claimToken is missing: send the one that the claim was answered. Nothing was changed.',
    { path: 'claimToken' },
  );
}

/** The calls of whoever holds a task by a claim over HTTP; see HolderCalls. */
export function holderService({ boards, settings, guard }: HolderDependencies): HolderCalls {
  /** Whose call was refused: the owner of the token's attempt, or the token itself when it is none of this task's. */
  async function callerOf({ jobId, taskId, token }: Hold, error: CrewboardError): Promise<string> {
    const attempt = Number(/^(\d{1,9})-/.exec(token)?.[1] ?? 0);
    if (error.code === 'not_owner' || attempt === 0) return token;
    const [record] = await boards.attempts(jobId, taskId, attempt, 1);
    return record === undefined ? token : `${record.owner.kind}:${record.owner.id}`;
  }

  /** Finds job and task, then runs `work` under the loop guard. */
  async function asHolder<Answer>(
    scope: Scope,
    jobId: string,
    taskId: string,
    call: HolderCall,
    work: (held: Held) => Promise<Answer>,
  ): Promise<Answer> {
    await visibleJob(boards, scope, jobId);
    const task = await findTask(boards, jobId, taskId);
    const hold = { jobId, taskId, token: requireToken(call) };
    try {
      const answer = await work({ task, hold, requestId: call.requestId ?? '' });
      // The call went through, so the task's owner is the caller.
      if (task.owner !== undefined) guard.succeeded(jobId, `${task.owner.kind}:${task.owner.id}`);
      return answer;
    } catch (error) {
      if (!(error instanceof CrewboardError) || error.code === 'unavailable') throw error;
      throw guard.failed(jobId, await callerOf(hold, error), error);
    }
  }

  /** A call that changes the task: `act` runs unless the request was carried out before. */
  async function change(
    scope: Scope,
    jobId: string,
    taskId: string,
    call: HolderCall,
    act: (held: Held) => Promise<unknown>,
  ): Promise<HolderAnswer> {
    return asHolder(scope, jobId, taskId, call, async (held) => {
      const state = await boards.checkHold(held.hold, held.requestId, call.version);
      if (state === 'current') await act(held);
      const now = await boards.task(jobId, taskId);
      return state === 'repeat' ? { ...now, already: true } : now;
    });
  }

  return {
    heartbeatTask: (scope, jobId, taskId, { leaseMs, ...call }) =>
      asHolder(scope, jobId, taskId, call, async ({ task, hold }): Promise<HeartbeatAnswer> => {
        if (task.owner?.kind === 'human' && leaseMs !== undefined) {
          await boards.checkHold(hold, '', call.version);
          throw noLeaseForPeople();
        }
        const { leaseUntil, version } = await boards.heartbeat(hold, leaseMs, call.version);
        return withoutAbsent({ leaseUntil, version, notices: await takeNotices(boards, hold) });
      }),

    noteTask: (scope, jobId, taskId, { text, progress, ...call }) =>
      change(scope, jobId, taskId, call, ({ hold, requestId }) =>
        boards.note(hold, requestId, text, { progress, version: call.version }),
      ),

    // The board itself compares the version of a submit, and says what has changed since.
    submitTask: (scope, jobId, taskId, { version, summary, output, evidence = [], artifacts, ...call }) =>
      change(scope, jobId, taskId, call, async ({ task, hold, requestId }) => {
        // Of another version nothing is known here, and the board refuses it.
        if (task.version === version) refuseUnfitSubmission(task, evidence);
        const result = { summary, output, artifacts, evidence };
        await boards.submit(hold, requestId, version, result, nextFromOutside(task));
      }),

    blockTask: (scope, jobId, taskId, { kind, reason, question, on, ...call }) =>
      change(scope, jobId, taskId, call, ({ hold, requestId }) =>
        boards.block(hold, requestId, { kind, reason, question, on, version: call.version }),
      ),

    failTask: (scope, jobId, taskId, { reason, class: failureClass = 'model', retryable, ...call }) =>
      change(scope, jobId, taskId, call, ({ task, hold, requestId }) =>
        boards.fail(hold, requestId, {
          class: failureClass,
          reason,
          retryable: retryable ?? !NOT_RETRIED.includes(failureClass),
          delayMs: Math.min(settings.retryDelayMs * 2 ** task.failures, RETRY_DELAY_MOST_MS),
          version: call.version,
          infraStrikes: settings.infraStrikes,
        }),
      ),

    releaseTask: (scope, jobId, taskId, { reason = '', ...call }) =>
      change(scope, jobId, taskId, call, ({ hold, requestId }) =>
        boards.release(hold, requestId, reason, call.version),
      ),
  };
}

/** A person's claim lasts until it is given back. */
export function noLeaseForPeople(): CrewboardError {
  return new CrewboardError(
    'invalid_argument',
    'a claim of kind "human" has no lease: leave leaseMs out. Nothing was changed.',
    { path: 'leaseMs' },
  );
}
