import { type ModelCall, ModelCallError, type ModelCallErrorKind, untilAborted } from '@crewboard/agent';
import type { Boards } from '@crewboard/board';
import { CrewboardError, type ParkCause } from '@crewboard/contracts';
import { pause } from '../lease.ts';
import type { Provider } from '../settings.ts';
import type { Entrance } from './admission.ts';
import type { LocalSlots } from './local-slots.ts';
import type { ModelName } from './rate-scripts.ts';
import { nameOfModel } from './rate-scripts.ts';
import type { Brake, CallEnd, RateStore, Waiting } from './rate-store.ts';
import type { ProviderTimes } from './times.ts';
import type { Watch } from './watch.ts';

/** How often an attempt asks for the verdict that a probe elsewhere brings. */
const VERDICT_POLL_MS = 50;
const BY = { kind: 'harness', id: 'provider' } as const;

/** Why an attempt may not be blamed for its failing calls; without `delayMs` it parks as long as it would for a strike. */
export interface Excuse {
  cause?: ParkCause;
  reason: string;
  delayMs?: number;
}

/** The model calls of one attempt, and what the provider's state means for its end. */
export interface AttemptCalls {
  call: ModelCall;
  /** Why the last call that ended as `held` was not sent. */
  heldBy(): ParkCause;
  /** After calls have failed to the last try: an excuse, or undefined when the model works for others. */
  excuse(
    failed: { error: ModelCallErrorKind; reason: string },
    signal: AbortSignal,
  ): Promise<Excuse | undefined>;
  /** Pauses the job because the provider refuses its calls; a good probe or a person resumes it. */
  pauseJob(reason: string): Promise<void>;
}

export interface CallsDependencies {
  boards: Pick<Boards, 'markModelDown' | 'markBrake' | 'pauseJob'>;
  store: RateStore;
  entrance: Entrance;
  slots: LocalSlots;
  watch: Pick<Watch, 'probeNow' | 'nudge'>;
  times: ProviderTimes;
  callModelOf: (provider: Provider) => ModelCall;
  /** Says once a brake and job that calls wait. */
  tellBrake: (jobId: string, model: ModelName, brake: Brake) => void;
}

const LOAD_KINDS: Partial<Record<ModelCallErrorKind, CallEnd>> = {
  overloaded: 'overloaded',
  rate_limited: 'rate_limited',
  transient: 'transient',
  // The model has read the request.
  context: 'ok',
};

const endOf = (error: unknown): CallEnd =>
  error instanceof ModelCallError ? (LOAD_KINDS[error.kind] ?? 'none') : 'none';

/** Puts the governor between one attempt and its provider. */
export function attemptCalls(
  { boards, store, entrance, slots, watch, times, callModelOf, tellBrake }: CallsDependencies,
  provider: Provider,
  caller: Waiting,
): AttemptCalls {
  const task = `${caller.jobId}/${caller.taskId}`;
  let model: ModelName = { provider, model: '' };
  /** By Redis' clock: since when no call of this attempt was answered. */
  let failingSince: number | undefined;
  let held: ParkCause = 'rate_limited';

  /** What a failing call means for everybody is told before the call is tried again: others must not start meanwhile. */
  async function tellFailure(callId: string, error: unknown, signal: AbortSignal): Promise<unknown> {
    slots.free(model, callId);
    const end = signal.aborted ? 'none' : endOf(error);
    const askedMs = error instanceof ModelCallError ? error.retryAfterMs : undefined;
    const why = error instanceof Error ? error.message : String(error);
    const reported = store.report(model, { id: callId, task, end, askedMs, why });
    if (!(error instanceof ModelCallError) || end === 'none') {
      reported.catch(() => {});
      return error;
    }
    try {
      const { at, suspected } = await untilAborted(reported, signal);
      failingSince ??= at;
      if (suspected) watch.nudge();
      // The brake is where the provider's pause is waited for now.
      return error.with({ retryAfterMs: undefined });
    } catch {
      return error;
    }
  }

  /** The attempt parks until the model answers: it is woken then, as soon as a probe is answered. */
  async function waitForModel(why: string): Promise<Required<Excuse>> {
    const reason = `provider: ${model.model} answers nobody (${why})`;
    await store.registerParked(model, caller);
    await boards.markModelDown(caller.jobId, model.model, reason);
    return { cause: 'model_down', reason, delayMs: times.downParkMs };
  }

  const call: ModelCall = async (request, options) => {
    const { signal } = options;
    model = { provider, model: request.model };
    held = 'rate_limited';
    const entered = await entrance.enter(model, signal, (brake) => tellBrake(caller.jobId, model, brake));
    if (entered.kind === 'down') {
      held = 'model_down';
      const { reason, delayMs } = await untilAborted(waitForModel(entered.why), signal);
      throw new ModelCallError('held', reason, { retryAfterMs: delayMs });
    }
    const { callId } = entered;
    const onPauseAsked = (askedMs: number) => {
      const why = 'the model answered that a rate limit is used up';
      store.report(model, { id: callId, task, end: 'asked', askedMs, why }).catch(() => {});
    };
    try {
      const reply = await callModelOf(provider)(request, { ...options, onPauseAsked });
      failingSince = undefined;
      slots.free(model, callId);
      // Nobody waits for this: an answer that is not told leaves its slot to its lease.
      store.report(model, { id: callId, task, end: 'ok' }).catch(() => {});
      return reply;
    } catch (error) {
      throw await tellFailure(callId, error, signal);
    }
  };

  /** Asks until a probe has told whether it is the model; undefined when none did in time. */
  async function verdict(why: string, signal: AbortSignal) {
    const began = performance.now();
    while (performance.now() - began < times.probeTimeoutMs + times.waitMostMs) {
      const found = await untilAborted(store.verdict(model, failingSince ?? 0, why), signal);
      if (found.kind !== 'asking') return found;
      await watch.probeNow(model, signal);
      await pause(VERDICT_POLL_MS, signal);
    }
    return undefined;
  }

  return {
    call,
    heldBy: () => held,
    async excuse({ error, reason }, signal) {
      if (error === 'rate_limited') return { cause: 'rate_limited', reason: `rate_limited: ${reason}` };
      const found = await verdict(reason, signal).catch((thrown: unknown): 'stopped' => {
        if (signal.aborted) return 'stopped';
        throw thrown;
      });
      if (found === 'stopped')
        return { reason: 'the attempt was stopped while its model was probed', delayMs: 0 };
      if (found === undefined)
        return {
          cause: 'provider',
          reason: `provider: nobody could tell whether ${nameOfModel(model)} works`,
        };
      return found.kind === 'down' ? waitForModel(found.why) : undefined;
    },
    async pauseJob(reason) {
      await store.registerPaused(model, caller.jobId);
      try {
        await boards.pauseJob(caller.jobId, BY, 'provider', reason);
      } catch (error) {
        // A job that has ended, or is being cancelled, need not pause.
        if (!(error instanceof CrewboardError) || error.code !== 'terminal') throw error;
      }
    },
  };
}
