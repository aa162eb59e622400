import type { Boards, Hold } from '@crewboard/board';
import { CrewboardError, type JobSpec, type Task } from '@crewboard/contracts';
import { keepLease, type LeaseKeeper } from '../lease.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import { failureReason, failureTold, passTold } from './check-failure.ts';
import type { CheckRunner } from './check-runner.ts';
import type { ChecksEnd } from './run-checks.ts';
import { checksOf, runsCommands } from './task-checks.ts';

/** A task that is edited under its checks again and again is left to the next runner. */
const RUNS_MOST = 5;
/** Longest pause before a task that failed its checks is tried again. */
const RETRY_DELAY_MOST_MS = 60_000;

export interface ReviewDependencies {
  boards: Boards;
  settings: Settings;
  checks: CheckRunner;
  log: Log;
  /** Aborts on SIGTERM: the checks go back to the queue. */
  shutdown: AbortSignal;
  /** Names this worker as the runner. */
  workerId: string;
}

interface Review {
  hold: Hold;
  spec: JobSpec;
  lease: LeaseKeeper;
}

/** Brings the verdict. False: the task was edited under its checks. */
async function bringVerdict(
  { boards, settings }: ReviewDependencies,
  { jobId, taskId, token }: Hold,
  task: Task,
  end: ChecksEnd,
): Promise<boolean> {
  const delayMs = Math.min(settings.retryDelayMs * 2 ** task.failures, RETRY_DELAY_MOST_MS);
  const evidence = [...(task.evidence ?? []), ...(end.passed ? end.evidence : [])];
  try {
    await boards.endChecks(
      jobId,
      taskId,
      { token, version: task.version },
      {
        passed: end.passed,
        reason: end.passed ? '' : failureReason(end.failure),
        output: task.result?.output,
        evidence,
        delayMs,
        told: end.passed ? passTold(checksOf(task)) : failureTold(end.failure),
      },
    );
    return true;
  } catch (error) {
    if (error instanceof CrewboardError && error.code === 'stale_version') return false;
    throw error;
  }
}

/** What to do about checks that did not end: run them again, or leave them to others. */
async function afterInterruption(
  { boards, settings, shutdown, log }: ReviewDependencies,
  { hold, lease }: Review,
  error: unknown,
): Promise<'again' | 'over'> {
  if (shutdown.aborted) {
    await boards.releaseChecks(hold, 0, '');
    return 'over';
  }
  if (lease.stopped === 'fenced') return (await lease.untilSafe(shutdown)) ? 'again' : 'over';
  if (lease.stopped !== undefined) return 'over';
  const problem = error instanceof CrewboardError ? error.detail : String(error);
  log.warn({ jobId: hold.jobId, taskId: hold.taskId, problem }, 'checks could not be run; tried again later');
  await boards.releaseChecks(hold, settings.parkMs, problem);
  return 'over';
}

/** Runs the checks until there is a verdict, which it brings, or they are to be left to others. */
async function runUntilVerdict(
  dependencies: ReviewDependencies,
  review: Review,
): Promise<'passed' | 'failed' | 'left to others'> {
  const { boards, checks, shutdown } = dependencies;
  const { hold, spec, lease } = review;
  for (let run = 0; run < RUNS_MOST; run++) {
    const task = await boards.task(hold.jobId, hold.taskId);
    let end: ChecksEnd;
    try {
      const signal = AbortSignal.any([lease.signal, shutdown]);
      end = await checks.run(task, task.result?.output, spec, signal);
    } catch (error) {
      if ((await afterInterruption(dependencies, review, error)) === 'over') return 'left to others';
      continue;
    }
    if (await bringVerdict(dependencies, hold, task, end)) return end.passed ? 'passed' : 'failed';
  }
  await boards.releaseChecks(hold, 0, 'the task was edited under its checks');
  return 'left to others';
}

/**
 * Runs the checks of a submission from outside under a lease of its own, and brings the verdict for the version that was
 * checked. It is dropped when there is nothing to check or another runner does. Whatever ends it half-way, the sweeper
 * hands the checks to the next runner once the lease is over. `elsewhere`: this worker runs no commands, and they need
 * some.
 */
export async function runReview(
  dependencies: ReviewDependencies,
  { jobId, taskId }: { jobId: string; taskId: string },
  spec: JobSpec,
): Promise<'over' | 'elsewhere'> {
  const { boards, settings, log, workerId } = dependencies;
  const [task] = await boards.readTasks(jobId, [taskId], false);
  if (task === undefined) return 'over';
  if (settings.commands === 'off' && runsCommands(task)) return 'elsewhere';
  const sentAt = performance.now();
  const started = await boards.startChecks(jobId, taskId, workerId, settings.leaseMs);
  if (started === undefined) return 'over';
  const hold = { jobId, taskId, token: started.token };
  const lease = keepLease(boards, hold, settings.leaseMs, sentAt);
  log.info({ jobId, taskId }, 'checks started');
  try {
    const outcome = await runUntilVerdict(dependencies, { hold, spec, lease });
    log.info({ jobId, taskId, outcome }, 'checks ended');
  } catch (error) {
    // Late, cancelled, or Redis can't be reached: whoever sweeps sees to it.
    if (!(error instanceof CrewboardError)) throw error;
    log.info({ jobId, taskId, outcome: 'left to others', code: error.code }, 'checks ended');
  } finally {
    lease.close();
  }
  return 'over';
}
