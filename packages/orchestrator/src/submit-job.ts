import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Boards, SUBMIT_LOCK_MS } from '@crewboard/board';
import {
  type Actor,
  CrewboardError,
  type DryRunAnswer,
  type JobBody,
  type JobSpec,
  newJobId,
  newSecret,
  type SubmitAnswer,
} from '@crewboard/contracts';
import { checkJob, type JobRules, projectOf } from './check-job.ts';
import { dryRunOf } from './dry-run.ts';
import { linksOf } from './job-view.ts';
import { listJob } from './list-job.ts';
import type { Scope } from './service.ts';

/** How long a repeat waits for the first request of its Idempotency-Key; past it the first one has crashed. */
const REPEAT_WAIT_MS = 90_000;
const REPEAT_POLL_MS = 50;

interface SubmitDependencies extends JobRules {
  boards: Boards;
}

/**
 * Takes a job in: a chain that a crash cannot half-do. Key -> live index -> board in `accepting` -> its tasks in
 * chunks -> one flip. A crash before the flip leaves a board that nobody sees and that the sweeper deletes; the same
 * Idempotency-Key then makes the job anew under the same ID.
 * Errors: `invalid_argument`, `forbidden`, `limit_exceeded`, `dependency_cycle`, `unknown_dependency`,
 * `duplicate_key`, `idempotency_mismatch`, `unavailable`. Each leaves nothing stored. A dry run checks the same and
 * stores nothing.
 */
export function createSubmitJob(dependencies: SubmitDependencies) {
  const { boards, settings } = dependencies;

  async function fill(spec: JobSpec, body: JobBody, by: Actor, token: string): Promise<SubmitAnswer> {
    await boards.index.addLive(spec.id);
    const lead = body.goal === undefined ? {} : { lead: { title: spec.title, instructions: body.goal, by } };
    const { createdAt } = await boards.create(spec, {
      coalesceMs: settings.coalesceMs,
      hold: body.hold === true,
      fill: token,
      approvePlan: spec.plan?.approve === true,
      ...lead,
    });
    if (body.tasks !== undefined) {
      await boards.stage(spec.id, { tasks: body.tasks, by, fill: token });
    }
    await boards.flip(spec.id, by, token);
    // Again, in case a sweep took the job for gone before its board was there.
    await boards.index.addLive(spec.id);
    await listJob(boards, spec.id, spec.project, createdAt);
    return answerFor(spec.id, body);
  }

  /** What is there of a job: its answer once filled, a board that is being filled, or nothing. */
  async function stateOf(jobId: string, body: JobBody): Promise<SubmitAnswer | 'accepting' | 'absent'> {
    try {
      const state = await boards.job(jobId);
      return state.status === 'accepting' && !state.held ? 'accepting' : answerFor(jobId, body);
    } catch (error) {
      if (!(error instanceof CrewboardError && error.code === 'not_found')) throw error;
      // Else the same key would make the job anew.
      if (await boards.index.wasDeleted(jobId)) throw deletedSince(jobId);
      return 'absent';
    }
  }

  /** Fills the board of a job whose lock this request has, and renews the lock meanwhile. */
  async function fillLocked(spec: JobSpec, body: JobBody, by: Actor, token: string): Promise<SubmitAnswer> {
    const renew = () => boards.index.renewSubmit(spec.id, token);
    // A renewal that fails is made up for by the next; a lock that runs out costs a repeat, and never a job.
    const timer = setInterval(() => void renew().catch(() => {}), SUBMIT_LOCK_MS / 4);
    try {
      return await fill(spec, body, by, token);
    } finally {
      clearInterval(timer);
    }
  }

  /** The chain under an Idempotency-Key: one request at a time works on its job, the others wait for its flip. */
  async function once(spec: JobSpec, body: JobBody, by: Actor): Promise<SubmitAnswer> {
    const until = performance.now() + REPEAT_WAIT_MS;
    const token = newSecret();
    while (performance.now() < until) {
      const state = await stateOf(spec.id, body);
      if (typeof state === 'object') return state;
      if (await boards.index.lockSubmit(spec.id, token)) {
        try {
          // Left by a request that crashed or is stuck: begun anew under this request's token, which shuts it out.
          if (!(await boards.drop(spec.id, 0))) continue;
          return await fillLocked(spec, body, by, token);
        } finally {
          await boards.index.unlockSubmit(spec.id, token);
        }
      }
      await delay(REPEAT_POLL_MS);
    }
    throw new CrewboardError(
      'unavailable',
      'another request with this Idempotency-Key is still under way. Try again.',
    );
  }

  /** What an Idempotency-Key was used for. Errors: `idempotency_mismatch` when that was another body. */
  async function earlierJob(
    project: string,
    key: string | undefined,
    hash: string,
  ): Promise<string | undefined> {
    const earlier = key === undefined ? undefined : await boards.index.boundTo(project, key);
    if (earlier !== undefined) refuseOtherBody(earlier, hash);
    return earlier?.jobId;
  }

  return {
    async submitJob(scope: Scope, body: JobBody, idempotencyKey?: string): Promise<SubmitAnswer> {
      const by: Actor = { kind: 'user', id: scope.caller };
      const project = projectOf(scope, body);
      const hash = hashOf(body);
      const earlier = await earlierJob(project, idempotencyKey, hash);
      // A repeat is answered as the first was, whatever has become of its workspace or model since.
      const state = earlier === undefined ? 'absent' : await stateOf(earlier, body);
      if (typeof state === 'object') return state;
      const { spec, body: whole } = await checkJob(scope, body, newJobId(), dependencies);
      if (idempotencyKey === undefined) return fill(spec, whole, by, newSecret());
      const bound = await boards.index.bindIdempotencyKey(project, idempotencyKey, hash, spec.id);
      refuseOtherBody(bound, hash);
      return once({ ...spec, id: bound.jobId }, whole, by);
    },

    async dryRunJob(scope: Scope, body: JobBody, idempotencyKey?: string): Promise<DryRunAnswer> {
      const earlier = await earlierJob(projectOf(scope, body), idempotencyKey, hashOf(body));
      if (earlier !== undefined) await stateOf(earlier, body);
      const { spec, body: whole } = await checkJob(scope, body, newJobId(), dependencies);
      return dryRunOf(spec, whole, answerFor(spec.id, whole).status, earlier);
    },
  };
}

/**
 * A body as it is told from others under an Idempotency-Key; a dry run is for the submit without that field, and the
 * key is of one project anyway, named or not.
 */
function hashOf({ dryRun: _, project: __, ...body }: JobBody): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex');
}

/** The status right after the flip, which a repeat is answered too. */
function answerFor(jobId: string, { goal, tasks, map, hold, plan }: JobBody): SubmitAnswer {
  if (hold) return { id: jobId, status: 'accepting', links: linksOf(jobId) };
  const isGiven = tasks !== undefined || map !== undefined;
  const plans = goal !== undefined && (!isGiven || plan?.approve === true);
  const status = plans ? 'planning' : plan?.approve ? 'awaiting_approval' : 'running';
  return { id: jobId, status, links: linksOf(jobId) };
}

function deletedSince(jobId: string): CrewboardError {
  return new CrewboardError(
    'terminal',
    `${jobId}, which this Idempotency-Key made, was deleted. Nothing was changed. Use a new key for a new job.`,
    { next: { call: 'again', with: 'a new Idempotency-Key' } },
  );
}

function refuseOtherBody(bound: { hash: string; jobId: string }, hash: string): void {
  if (bound.hash === hash) return;
  throw new CrewboardError(
    'idempotency_mismatch',
    `this Idempotency-Key was used with another body, for ${bound.jobId}. Use a new key.`,
  );
}
