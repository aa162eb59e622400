import type { AgentOutcome } from '@crewboard/agent';
import { type Boards, type Claimed, type Hold, isLeaseLost } from '@crewboard/board';
import { CrewboardError, type FailureClass, NO_USAGE } from '@crewboard/contracts';
import { keepLease, type LeaseKeeper, pause } from './lease.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { AttemptCalls } from './provider/attempt-calls.ts';
import { parkForModel } from './provider/settle-model-end.ts';
import type { Settings } from './settings.ts';

/** One claim as its runner works with it. */
export interface RunningAttempt {
  hold: Hold;
  claimed: Claimed;
  lease: LeaseKeeper;
  /** Its way to the model. */
  calls: AttemptCalls;
}

export interface AttemptDependencies {
  boards: Boards;
  settings: Settings;
  log: Log;
  metrics: Metrics;
  /** Attempts of this process by job, so that a cancel reaches them at once. */
  running: Map<string, Set<RunningAttempt>>;
  /** Aborts on SIGTERM: running attempts are released. */
  shutdown: AbortSignal;
}

/** Longest pause before a failed task is tried again. */
const RETRY_DELAY_MOST_MS = 60_000;
/** Park for a job's budget: what lifts its pause makes the task ready, this only keeps it from coming back at once. */
const BUDGET_PARK_MS = 1000;
/** How often the end of an attempt is sent again while Redis does not answer, about once a second. */
const END_TRIES = 60;

/** Runs the agent once; called again from the journal when a fence was lifted. */
export type RunAgentOnce = (signal: AbortSignal) => Promise<AgentOutcome>;

const FAILURE_OF: Record<'refused' | 'truncated' | 'context', FailureClass> = {
  refused: 'refused',
  truncated: 'truncated',
  context: 'context',
};

/**
 * Runs a claimed attempt to its end: heartbeats, fence, and what each outcome means for the board. When the fence
 * stopped it and the token turns out to be still current, it goes on from the journal in the same attempt.
 */
export async function runAttempt(
  dependencies: AttemptDependencies,
  claimed: Claimed,
  hold: Hold,
  /** Monotonic time at which the claim was sent: the lease can't be older. */
  claimSentAt: number,
  calls: AttemptCalls,
  start: (attempt: RunningAttempt) => Promise<RunAgentOnce>,
): Promise<void> {
  const { boards, settings, log, running, shutdown, metrics } = dependencies;
  const lease = keepLease(boards, hold, settings.leaseMs, claimSentAt);
  const attempt: RunningAttempt = { hold, claimed, lease, calls };
  const peers = running.get(hold.jobId) ?? new Set();
  running.set(hold.jobId, peers.add(attempt));
  const fields = { jobId: hold.jobId, taskId: hold.taskId, attempt: claimed.task.attempt };
  log.info(fields, 'attempt started');
  try {
    const outcome = await untilEnd(attempt, start, shutdown);
    // A refused journal write may be the first sign that the attempt is lost: no heartbeat has told of it yet.
    const ending = { outcome: outcome?.kind ?? lease.stopped ?? 'lost', turns: outcome?.turns };
    logEnd(log, { ...fields, ...ending }, outcome);
    if (outcome !== undefined) await settleOutcome(dependencies, attempt, outcome);
    // Ended by somebody else's call, so no call on the board tells of it.
    else if (lease.stopped === 'cancelled') {
      const heldMs = performance.now() - claimSentAt;
      metrics.attemptEnded({ outcome: 'cancelled', holder: claimed.task.owner?.kind ?? 'unknown', heldMs });
    }
  } finally {
    lease.close();
    peers.delete(attempt);
    if (peers.size === 0) running.delete(hold.jobId);
  }
}

/** A provider that refuses calls is for people to mend, so it stands out. */
function logEnd(log: Log, fields: object, outcome: AgentOutcome | undefined): void {
  if (outcome === undefined || outcome.kind === 'done' || outcome.kind === 'aborted') {
    log.info(fields, 'attempt ended');
  } else {
    log[outcome.kind === 'provider' ? 'warn' : 'info'](
      { ...fields, reason: outcome.reason },
      'attempt ended',
    );
  }
}

/** An attempt that could not even begin, such as in a workspace that is gone: said as it is, and a strike. */
function notPrepared(error: unknown): AgentOutcome {
  const nothing = { turns: 0, usage: NO_USAGE };
  if (error instanceof CrewboardError && ['lease_lost', 'unavailable', 'terminal'].includes(error.code)) {
    return { kind: 'aborted', reason: error, ...nothing };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', class: 'infra', reason: `the attempt could not begin: ${reason}`, ...nothing };
}

/** Runs, and runs on after a fence or a short absence of Redis. Undefined: the attempt is not ours any more. */
async function untilEnd(
  attempt: RunningAttempt,
  start: (attempt: RunningAttempt) => Promise<RunAgentOnce>,
  shutdown: AbortSignal,
): Promise<AgentOutcome | undefined> {
  const { lease } = attempt;
  for (;;) {
    const outcome = await start(attempt).then(
      (run) => run(AbortSignal.any([lease.signal, shutdown])),
      notPrepared,
    );
    if (outcome.kind !== 'aborted' || shutdown.aborted) return lease.stopped === 'lost' ? undefined : outcome;
    if (isLeaseLost(outcome.reason) || lease.stopped === 'lost' || lease.stopped === 'cancelled')
      return undefined;
    // Fenced, or a journal write that Redis did not take: once a heartbeat is answered the attempt goes on.
    lease.stop('fenced');
    if (!(await lease.untilSafe(shutdown))) return shutdown.aborted ? outcome : undefined;
  }
}

/** Sends the end of an attempt until Redis takes it; an attempt that is over anyway needs no end. */
async function endAttempt(dependencies: AttemptDependencies, end: () => Promise<unknown>): Promise<void> {
  const { log } = dependencies;
  for (let tries = 1; ; tries++) {
    try {
      await end();
      return;
    } catch (error) {
      if (!(error instanceof CrewboardError)) throw error;
      if (error.code !== 'unavailable' || tries === END_TRIES) {
        log.debug({ code: error.code }, 'the end of the attempt was refused: somebody ended it before');
        return;
      }
      await pause(1000, new AbortController().signal);
    }
  }
}

async function settleOutcome(
  dependencies: AttemptDependencies,
  { hold, claimed, lease, calls }: RunningAttempt,
  outcome: AgentOutcome,
): Promise<void> {
  const { boards, settings } = dependencies;
  const { task } = claimed;
  // One end an attempt, so its request ID can be fixed: repeated after a lost answer it changes nothing.
  const requestId = `end/${task.attempt}`;
  const fail = (failureClass: FailureClass, reason: string, retryable: boolean) =>
    endAttempt(dependencies, () =>
      boards.fail(hold, requestId, {
        class: failureClass,
        reason,
        retryable,
        delayMs: Math.min(settings.retryDelayMs * 2 ** (task.attempt - 1), RETRY_DELAY_MOST_MS),
        infraStrikes: settings.infraStrikes,
      }),
    );
  switch (outcome.kind) {
    case 'done':
      return;
    case 'failed':
      return fail(outcome.class, outcome.reason, true);
    case 'refused':
    case 'truncated':
    case 'context':
      return fail(FAILURE_OF[outcome.kind], outcome.reason, false);
    case 'limit':
      return fail(outcome.bound === 'time' ? 'timeout' : 'model', outcome.reason, true);
    case 'parked':
      if (outcome.cause === 'tool') return;
      if (outcome.cause === 'asked') {
        const parked = { delayMs: 0, reason: outcome.reason, strikesToFail: 0 };
        return endAttempt(dependencies, () => boards.park(hold, requestId, parked));
      }
      return endAttempt(dependencies, async () => {
        const stop = AbortSignal.any([lease.signal, dependencies.shutdown]);
        const held = { hold, calls, attempt: task.attempt };
        await boards.park(hold, requestId, await parkForModel(dependencies, held, outcome, stop));
      });
    case 'budget':
      if (outcome.fails) return fail('budget', outcome.reason, false);
      return endAttempt(dependencies, () =>
        boards.park(hold, requestId, {
          delayMs: BUDGET_PARK_MS,
          reason: `budget: ${outcome.reason}`,
          strikesToFail: 'kept',
          cause: 'budget',
        }),
      );
    case 'provider':
      return endAttempt(dependencies, async () => {
        await calls.pauseJob(outcome.reason);
        await boards.park(hold, requestId, {
          delayMs: 0,
          reason: `provider: ${outcome.reason}`,
          strikesToFail: 'kept',
          cause: 'provider',
        });
      });
    case 'aborted':
      return endAttempt(dependencies, () => boards.release(hold, requestId, 'the worker is shutting down'));
  }
}
