import { type Boards, type Claimed, type JobState, withoutAbsent } from '@crewboard/board';
import {
  type Claim,
  type ClaimAnswer,
  type ClaimBody,
  CrewboardError,
  isEnded,
  newSecret,
  type Owner,
} from '@crewboard/contracts';
import { CARRIED_RESULTS, dependencyResults } from './board-tools.ts';
import { noSuchTask } from './find-task.ts';
import { type HolderDependencies, noLeaseForPeople } from './holder-service.ts';
import type { ClaimCalls, Scope } from './service.ts';
import { visibleJob } from './visible-job.ts';

/** Pages of ready tasks that one claim by labels goes through, and tasks a page. */
const PAGES_MOST = 50;
const PAGE = 20;
/** A task that somebody else was quicker with. */
const LOST_RACE: readonly string[] = [
  'already_claimed',
  'not_ready',
  'invalid_transition',
  'terminal',
  'not_found',
];

/** The owner of a claim over HTTP: people and programs outside. */
function ownerOf({ owner }: ClaimBody): Owner {
  if (typeof owner === 'string') return { kind: 'external', id: owner };
  if (owner.kind === 'external' || owner.kind === 'human') return owner;
  throw new CrewboardError('forbidden', `owner.kind "${owner.kind}" claims from inside only`, {
    path: 'owner.kind',
    allowed: ['external', 'human'],
  });
}

function refuseClosed(state: JobState): void {
  if (isEnded(state.status) || state.cancelling) {
    const how = isEnded(state.status) ? state.status : 'being cancelled';
    throw new CrewboardError('terminal', `the job is ${how}`);
  }
  if (state.pauses.length > 0) {
    throw new CrewboardError('board_paused', `the job is paused (${state.pauses.join(',')})`);
  }
}

/** The task that a claim's request ID has got already is answered only to the same claim. */
async function refuseOtherLabels(
  boards: Boards,
  jobId: string,
  taskId: string,
  { labels = [] }: ClaimBody,
): Promise<void> {
  const [task] = await boards.readTasks(jobId, [taskId], false);
  if (task === undefined || labels.every((label) => task.labels.includes(label))) return;
  const refused = new CrewboardError(
    'idempotency_mismatch',
    `this requestId has claimed ${taskId}, which has not all of these labels. Nothing was changed. Use a new one.`,
    { next: { call: 'again', with: 'a new requestId' } },
  );
  throw await boards.aboutTask(refused, jobId, taskId, 'claimant');
}

/** A claim as its holder is told of it: the task, what it builds on, and how earlier attempts ended. */
async function toClaim(boards: Boards, jobId: string, { token, task, leaseUntil }: Claimed): Promise<Claim> {
  const { results, moreDependencies } = await dependencyResults(boards, jobId, task, CARRIED_RESULTS);
  const earlier = await boards.attempts(jobId, task.id, task.attempt - 1);
  return withoutAbsent({
    task,
    claimToken: token,
    leaseUntil,
    attempt: task.attempt,
    dependencies: results.map((result) => ({ ...result, artifacts: result.artifacts ?? [] })),
    moreDependencies,
    earlierAttempts: earlier.flatMap(({ attempt, outcome, class: failureClass, reason, answer }) =>
      outcome === undefined ? [] : [withoutAbsent({ attempt, outcome, class: failureClass, reason, answer })],
    ),
  });
}

/** Claims over HTTP; see ClaimCalls. */
export function claimService({ boards, settings, guard }: HolderDependencies): ClaimCalls {
  async function claimFor(
    state: JobState,
    body: ClaimBody,
    owner: Owner,
    leaseMs: number,
    requestId?: string,
  ) {
    const jobId = state.spec.id;
    const claim = (taskId?: string) =>
      boards.claim(jobId, {
        ...(taskId === undefined ? {} : { taskId }),
        owner,
        leaseMs,
        secret: newSecret(),
        requestId: requestId ?? newSecret(),
      });

    async function firstOf(labels: string[]): Promise<Claimed | undefined> {
      let after: number | undefined = 0;
      for (let pages = 0; after !== undefined && pages < PAGES_MOST; pages++) {
        const page = await boards.page(jobId, { readiness: 'ready', label: labels, after, limit: PAGE });
        for (const { id } of page.tasks) {
          const claimed = await claim(id).catch((error: unknown) => {
            if (!(error instanceof CrewboardError) || !LOST_RACE.includes(error.code)) throw error;
            return undefined;
          });
          if (claimed !== undefined) return claimed;
        }
        after = page.nextAfter;
      }
      return undefined;
    }

    /** The claim that this request has made before, while its owner still holds the task. */
    async function repeated(): Promise<Claimed | undefined> {
      const earlier = requestId === undefined ? undefined : await boards.claimedBy(jobId, owner, requestId);
      if (earlier === undefined) return undefined;
      await refuseOtherLabels(boards, jobId, earlier, body);
      return claim(earlier);
    }

    if (body.taskId !== undefined) return claim(body.taskId);
    const before = await repeated();
    if (before !== undefined) return before;
    refuseClosed(state);
    if (body.labels === undefined) return claim();
    try {
      return await firstOf(body.labels);
    } catch (error) {
      // The same request, made at the same time, has got another one of these tasks meanwhile.
      if (!(error instanceof CrewboardError) || error.code !== 'idempotency_mismatch') throw error;
      return repeated();
    }
  }

  return {
    async claimTask(scope: Scope, jobId: string, body: ClaimBody): Promise<ClaimAnswer> {
      const owner = ownerOf(body);
      if (owner.kind === 'human' && body.leaseMs !== undefined) throw noLeaseForPeople();
      const leaseMs = owner.kind === 'human' ? 0 : (body.leaseMs ?? settings.externalLeaseMs);
      const state = await visibleJob(boards, scope, jobId);
      const caller = `${owner.kind}:${owner.id}`;
      try {
        // The owner's own: nobody gets another one's token by its request ID.
        const requestId = body.requestId === undefined ? undefined : `${caller} ${body.requestId}`;
        const claimed = await claimFor(state, body, owner, leaseMs, requestId);
        guard.succeeded(jobId, caller);
        if (claimed === undefined) return { task: null, counts: (await boards.job(jobId)).counts };
        return await toClaim(boards, jobId, claimed);
      } catch (error) {
        if (!(error instanceof CrewboardError) || error.code === 'unavailable') throw error;
        const isMissing = error.code === 'not_found' && body.taskId !== undefined;
        throw guard.failed(
          jobId,
          caller,
          isMissing ? await noSuchTask(boards, jobId, body.taskId ?? '') : error,
        );
      }
    },
  };
}
