import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Boards } from '@crewboard/board';
import {
  type Actor,
  CrewboardError,
  type JobBody,
  type JobStatus,
  newJobId,
  newSecret,
  type SubmitAnswer,
} from '@crewboard/contracts';
import { type CheckedJob, checkJob, projectOf, type SpecDependencies } from './check-job.ts';
import { givenCount } from './given-tasks.ts';
import { linksOf } from './job-view.ts';
import { listJob } from './list-job.ts';
import type { Scope } from './service.ts';

/** How long a repeat waits for the first request of its Idempotency-Key; past it the first one has crashed. */
const REPEAT_WAIT_MS = 90_000;
const REPEAT_POLL_MS = 50;

interface SubmitDependencies extends SpecDependencies {
  boards: Boards;
}

/**
 * Takes a job in: a chain that a crash cannot half-do. Key -> live index -> board in `accepting` -> its tasks in
 * chunks -> one flip. A crash before the flip leaves a board that nobody sees and that the sweeper deletes; the same
 * Idempotency-Key then makes the job anew under the same ID.
 * Errors: `invalid_argument`, `forbidden`, `limit_exceeded`, `dependency_cycle`, `unknown_dependency`,
 * `duplicate_key`, `idempotency_mismatch`, `unavailable`. Each leaves nothing stored.
 */
export function createSubmitJob(dependencies: SubmitDependencies) {
  const { boards, settings } = dependencies;

  async function fill(
    { spec, tasks }: CheckedJob,
    body: JobBody,
    by: Actor,
    token: string,
  ): Promise<SubmitAnswer> {
    await boards.index.addLive(spec.id);
    const lead = body.goal === undefined ? {} : { lead: { title: spec.title, instructions: body.goal, by } };
    const { createdAt } = await boards.create(spec, {
      coalesceMs: settings.coalesceMs,
      hold: body.hold === true,
      fill: token,
      approvePlan: spec.plan?.approve === true,
      ...lead,
    });
    if (tasks.length > 0) await boards.stage(spec.id, { tasks, by, fill: token });
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

  /** The chain under an Idempotency-Key: one request at a time works on its job, the others wait for its flip. */
  async function once(job: CheckedJob, body: JobBody, by: Actor): Promise<SubmitAnswer> {
    const { id } = job.spec;
    const until = performance.now() + REPEAT_WAIT_MS;
    const token = newSecret();
    while (performance.now() < until) {
      const state = await stateOf(id, body);
      if (typeof state === 'object') return state;
      if (await boards.index.lockSubmit(id, token)) {
        try {
          // Left by a request that crashed or is stuck: begun anew under this request's token, which shuts it out.
          if (!(await boards.drop(id, 0))) continue;
          return await fill(job, body, by, token);
        } finally {
          await boards.index.unlockSubmit(id, token);
        }
      }
      await delay(REPEAT_POLL_MS);
    }
    throw new CrewboardError(
      'unavailable',
      'another request with this Idempotency-Key is still under way. Try again.',
    );
  }

  return async (scope: Scope, body: JobBody, idempotencyKey?: string): Promise<SubmitAnswer> => {
    const by: Actor = { kind: 'user', id: scope.caller };
    const project = projectOf(scope, body);
    const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    const earlier =
      idempotencyKey === undefined ? undefined : await boards.index.boundTo(project, idempotencyKey);
    if (earlier !== undefined) {
      refuseOtherBody(earlier, hash);
      // A repeat is answered as the first was, whatever has become of its workspace or model since.
      const state = await stateOf(earlier.jobId, body);
      if (typeof state === 'object') return state;
    }
    const job = await checkJob(scope, body, newJobId(), dependencies);
    if (idempotencyKey === undefined) return fill(job, body, by, newSecret());
    const bound = await boards.index.bindIdempotencyKey(project, idempotencyKey, hash, job.spec.id);
    refuseOtherBody(bound, hash);
    return once({ ...job, spec: { ...job.spec, id: bound.jobId } }, body, by);
  };
}

/** The status right after the flip, which a repeat is answered too. */
function answerFor(jobId: string, body: JobBody): SubmitAnswer {
  return { id: jobId, status: statusAfter(body), links: linksOf(jobId) };
}

/** The status of a job right after its submit. */
export function statusAfter(body: JobBody): JobStatus {
  if (body.hold) return 'accepting';
  const plans = body.goal !== undefined && (givenCount(body) === 0 || body.plan?.approve === true);
  if (plans) return 'planning';
  return body.plan?.approve ? 'awaiting_approval' : 'running';
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
