import { setTimeout as wait } from 'node:timers/promises';
import { CrewboardError } from '@crewboard/contracts';
import type { AgentEnd } from './agent.ts';
import { untilAborted } from './linked-abort.ts';
import { ModelCallError, type ModelReply, type ModelRequest } from './model-call.ts';
import { malformedPart } from './reply-check.ts';
import type { Run } from './run.ts';

export type CallOutcome = { ok: true; reply: ModelReply } | { ok: false; end: AgentEnd };

const FIRST_WAIT_MS = 1000;

/** Doubling waits that all fit into `retryMs`; half of each is chance, so that agents do not come back together. */
function backoffMs(failedTries: number, tries: number, retryMs: number): number {
  const first = Math.min(FIRST_WAIT_MS, retryMs / 2 ** tries);
  return first * 2 ** (failedTries - 1) * (0.5 + Math.random() / 2);
}

function asModelCallError(error: unknown): ModelCallError {
  if (error instanceof ModelCallError) return error;
  return new ModelCallError('transient', error instanceof Error ? error.message : String(error));
}

function wellFormed(run: Run, reply: ModelReply): ModelReply {
  const taken = run.conversation().turns.flatMap(({ calls }) => calls.map(({ id }) => id));
  const wrong = malformedPart(reply, new Set(taken));
  if (wrong === undefined) return reply;
  throw new ModelCallError('transient', `the model sent a reply that can't be used: ${wrong}`);
}

function realWait(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal });
}

/**
 * Calls the model until it answers. Failing calls are repeated within the limits, then the attempt parks; errors that
 * no repetition mends end it, and so does a wish to park: no call starts after it. Rejects only when the run is aborted.
 */
export async function callWithRetries(run: Run, request: ModelRequest): Promise<CallOutcome> {
  const { modelTries, modelRetryMs } = run.options.limits;
  let waitedMs = 0;
  for (let failedTries = 1; ; failedTries++) {
    let error: ModelCallError;
    run.signal.throwIfAborted();
    const park = run.options.parkAsked?.();
    if (park !== undefined) return { ok: false, end: { kind: 'parked', cause: 'asked', reason: park } };
    try {
      const call = run.options.callModel(request, { signal: run.signal });
      return { ok: true, reply: wellFormed(run, await untilAborted(call, run.signal)) };
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
    if (failedTries >= modelTries || waitedMs + waitMs > modelRetryMs) {
      return { ok: false, end: { kind: 'parked', cause: 'model', error: kind, reason, retryAfterMs } };
    }
    run.emit({ type: 'model.retry', failedTries, waitMs, kind, reason });
    await (run.options.wait ?? realWait)(waitMs, run.signal);
    waitedMs += waitMs;
  }
}
