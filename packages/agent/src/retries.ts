import { setTimeout as wait } from 'node:timers/promises';
import { type CallSettlement, CrewboardError } from '@crewboard/contracts';
import type { AgentEnd } from './agent.ts';
import { type GrantedCall, NO_BUDGET } from './call-budget.ts';
import type { CallSpent } from './call-spent.ts';
import { inputTokensMost } from './input-bound.ts';
import { untilAborted } from './linked-abort.ts';
import { ModelCallError, type ModelReply, type ModelRequest } from './model-call.ts';
import { plausibleSpent, plausibleUsage } from './plausible-usage.ts';
import { malformedPart } from './reply-check.ts';
import type { Run } from './run.ts';
import { thrownText } from './thrown-text.ts';
import { timerMs } from './timers.ts';

export type CallOutcome =
  /** `settles` goes with the append of the reply. */
  { ok: true; reply: ModelReply; settles: CallSettlement | undefined } | { ok: false; end: AgentEnd };

const FIRST_WAIT_MS = 1000;

/** The model answered, and what it sent can't be used: the model's failure, not the connection's. */
class UnusableReplyError extends ModelCallError {
  constructor(wrong: string) {
    super('transient', `the model sent a reply that can't be used: ${wrong}`);
  }
}

/** How an attempt ends whose calls keep failing, the last one with `error`. */
function endOfTries(error: ModelCallError): AgentEnd {
  const { kind, message: reason, retryAfterMs } = error;
  if (error instanceof UnusableReplyError) return { kind: 'failed', class: 'model', reason };
  return { kind: 'parked', cause: 'model', error: kind, reason, retryAfterMs };
}

/** Doubling waits that all fit into `retryMs`; half of each is chance, so that agents do not come back together. */
function backoffMs(failedTries: number, tries: number, retryMs: number): number {
  const first = Math.min(FIRST_WAIT_MS, retryMs / 2 ** tries);
  return first * 2 ** (failedTries - 1) * (0.5 + Math.random() / 2);
}

function asModelCallError(error: unknown): ModelCallError {
  if (error instanceof ModelCallError) return error;
  return new ModelCallError('transient', thrownText(error));
}

/** A call that was held back, or that the harness could not ask about, was not made. */
function spentOf(thrown: unknown): CallSpent {
  const error = asModelCallError(thrown);
  return thrown instanceof CrewboardError || error.kind === 'held'
    ? { kind: 'nothing' }
    : plausibleSpent(error.spent);
}

/** Makes one granted call. A reply that can't be used is a failure; every failure is booked before it is thrown. */
async function ask(run: Run, request: ModelRequest, call: GrantedCall): Promise<ModelReply> {
  if (run.signal.aborted) await call.settle({ kind: 'nothing' });
  run.signal.throwIfAborted();
  let reply: ModelReply;
  try {
    const asked = run.options.callModel({ ...request, maxTokens: call.maxTokens }, { signal: run.signal });
    const answered = await untilAborted(asked, run.signal);
    reply = { ...answered, usage: plausibleUsage(answered.usage) };
  } catch (thrown) {
    run.signal.throwIfAborted();
    await call.settle(spentOf(thrown));
    throw thrown;
  }
  const taken = run.conversation().turns.flatMap(({ calls }) => calls.map(({ id }) => id));
  const wrong = malformedPart(reply, new Set(taken));
  if (wrong === undefined) return reply;
  await call.settle({ kind: 'used', usage: reply.usage });
  throw new UnusableReplyError(wrong);
}

function realWait(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal });
}

/**
 * Calls the model until it answers, each time within the budget. Failing calls are repeated within the limits, then the
 * attempt parks; errors that no repetition mends end it, and so does a wish to park: no call starts after it. Rejects when
 * the run is aborted, and with the CrewboardError of a harness that can't tell whether the call may be made.
 */
export async function callWithRetries(run: Run, request: ModelRequest): Promise<CallOutcome> {
  const { limits, budget = NO_BUDGET } = run.options;
  const { modelTries } = limits;
  const modelRetryMs = timerMs(limits.modelRetryMs);
  let waitedMs = 0;
  for (let failedTries = 1; ; failedTries++) {
    let error: ModelCallError;
    run.signal.throwIfAborted();
    const park = run.options.parkAsked?.();
    if (park !== undefined) return { ok: false, end: { kind: 'parked', cause: 'asked', reason: park } };
    const grant = await budget.reserve(request, inputTokensMost(run, request), run.signal);
    if (!grant.granted)
      return { ok: false, end: { kind: 'budget', fails: grant.fails, reason: grant.reason } };
    try {
      const reply = await ask(run, request, grant.call);
      return { ok: true, reply, settles: grant.call.settlement(reply.usage) };
    } catch (thrown) {
      run.signal.throwIfAborted();
      // Not the model's failure: the harness itself could not ask whether the call may be made.
      if (thrown instanceof CrewboardError) throw thrown;
      error = asModelCallError(thrown);
    }
    const { kind, message: reason, retryAfterMs } = error;
    if (kind === 'provider' || kind === 'context') return { ok: false, end: { kind, reason } };
    if (kind === 'held') {
      return { ok: false, end: { kind: 'parked', cause: 'held', reason, retryAfterMs: retryAfterMs ?? 0 } };
    }
    const waitMs = Math.max(backoffMs(failedTries, modelTries, modelRetryMs), retryAfterMs ?? 0);
    // So put, a wait that is no number parks, too.
    if (failedTries >= modelTries || !(waitedMs + waitMs <= modelRetryMs)) {
      return { ok: false, end: endOfTries(error) };
    }
    run.emit({ type: 'model.retry', failedTries, waitMs, kind, reason });
    await (run.options.wait ?? realWait)(waitMs, run.signal);
    waitedMs += waitMs;
  }
}
