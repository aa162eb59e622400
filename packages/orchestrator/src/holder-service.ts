import { type Boards, type CallName, type Hold, type HolderAction, withoutAbsent } from '@crewboard/board';
import {
  CrewboardError,
  type FailureClass,
  type HeartbeatAnswer,
  type HolderAnswer,
  type Task,
} from '@crewboard/contracts';
import { findTask } from './find-task.ts';
import type { LoopGuard } from './loop-guard.ts';
import { confirmNotices, showNotices } from './messages/notices.ts';
import type { HolderCalls, Scope } from './service.ts';
import type { Settings } from './settings.ts';
import { nextFromOutside, placeArtifact, refuseUnfitSubmission } from './submission.ts';
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
  name: CallName;
}

function requireToken({ claimToken }: HolderCall): string {
  if (claimToken !== undefined) return claimToken;
  throw new CrewboardError(
    'invalid_argument',
    'claimToken is missing: send the one that the claim was answered.',
    { path: 'claimToken' },
  );
}

/** The request ID stands for all that was sent but for what proves the claim: other content is another call. */
function nameOf({
  claimToken: _claimToken,
  version: _version,
  requestId = '',
  ...content
}: HolderCall): CallName {
  return requestId === '' ? '' : { requestId, content: JSON.stringify(content) };
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
      const answer = await work({ task, hold, name: nameOf(call) });
      // The call went through, so the task's owner is the caller.
      if (task.owner !== undefined) guard.succeeded(jobId, `${task.owner.kind}:${task.owner.id}`);
      return answer;
    } catch (error) {
      if (!(error instanceof CrewboardError) || error.code === 'unavailable') throw error;
      const told = guard.failed(jobId, await callerOf(hold, error), error);
      throw await boards.aboutTask(told, jobId, taskId, 'holder');
    }
  }

  /** A call that changes the task: `act` runs unless the request was carried out before. */
  async function change(
    scope: Scope,
    jobId: string,
    taskId: string,
    action: HolderAction,
    call: HolderCall,
    act: (held: Held) => Promise<unknown>,
  ): Promise<HolderAnswer> {
    return asHolder(scope, jobId, taskId, call, async (held) => {
      // The board itself compares the version of a submit, and says what has changed since.
      const seen = action === 'submit' ? undefined : call.version;
      const state = await boards.checkHold(held.hold, held.name, action, seen);
      if (state === 'current') {
        await confirmNotices(boards, held.hold);
        await act(held);
      }
      const now = await boards.task(jobId, taskId);
      return state === 'repeat' ? { ...now, already: true } : now;
    });
  }

  return {
    heartbeatTask: (scope, jobId, taskId, call) =>
      asHolder(scope, jobId, taskId, call, async ({ task, hold }): Promise<HeartbeatAnswer> => {
        if (task.owner?.kind === 'human' && call.leaseMs !== undefined) {
          await boards.checkHold(hold, '', 'note', call.version);
          throw noLeaseForPeople();
        }
        const { leaseUntil, version } = await boards.heartbeat(hold, call.leaseMs, call.version);
        return withoutAbsent({
          leaseUntil,
          version,
          notices: await showNotices(boards, hold, call.requestId),
        });
      }),

    noteTask: (scope, jobId, taskId, call) =>
      change(scope, jobId, taskId, 'note', call, ({ hold, name }) => {
        const { text, progress, version } = call;
        return boards.note(hold, name, text, { progress, version });
      }),

    submitTask: (scope, jobId, taskId, call) =>
      change(scope, jobId, taskId, 'submit', call, async ({ task, hold, name }) => {
        const { version, summary, output, evidence = [], artifacts } = call;
        // Of another version nothing is known here, and the board refuses it.
        if (task.version === version) refuseUnfitSubmission(task, evidence);
        const result = { summary, output, artifacts, evidence };
        await boards.submit(hold, name, version, result, nextFromOutside(task)).catch((error: unknown) => {
          throw placeArtifact(error, result);
        });
      }),

    blockTask: (scope, jobId, taskId, call) =>
      change(scope, jobId, taskId, 'block', call, ({ hold, name }) => {
        const { kind, reason, question, on, version } = call;
        return boards.block(hold, name, { kind, reason, question, on, version });
      }),

    failTask: (scope, jobId, taskId, call) =>
      change(scope, jobId, taskId, 'fail', call, ({ task, hold, name }) => {
        const { reason, class: failureClass = 'model', retryable, version } = call;
        return boards.fail(hold, name, {
          class: failureClass,
          reason,
          retryable: retryable ?? !NOT_RETRIED.includes(failureClass),
          delayMs: Math.min(settings.retryDelayMs * 2 ** task.failures, RETRY_DELAY_MOST_MS),
          version,
          infraStrikes: settings.infraStrikes,
        });
      }),

    releaseTask: (scope, jobId, taskId, call) =>
      change(scope, jobId, taskId, 'release', call, ({ hold, name }) =>
        boards.release(hold, name, call.reason ?? '', call.version),
      ),
  };
}

/** A person's claim lasts until it is given back. */
export function noLeaseForPeople(): CrewboardError {
  return new CrewboardError('invalid_argument', 'a claim of kind "human" has no lease: leave leaseMs out.', {
    path: 'leaseMs',
  });
}
