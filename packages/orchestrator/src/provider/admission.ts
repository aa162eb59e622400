import { ModelCallError, untilAborted } from '@crewboard/agent';
import { isoTime, newSecret } from '@crewboard/contracts';
import { pause } from '../lease.ts';
import type { LocalSlots } from './local-slots.ts';
import type { ModelName } from './rate-scripts.ts';
import type { Admission, Brake, RateStore } from './rate-store.ts';
import type { ProviderTimes } from './times.ts';

/** An admission that took longer to get here is asked for again: a brake may have been set since. */
const FRESH_MS = 100;

interface AdmissionDependencies {
  store: RateStore;
  slots: LocalSlots;
  times: ProviderTimes;
}

/** The call can't start soon: it was not made, and its attempt parks. */
function held(reason: string, parkMs: number): ModelCallError {
  return new ModelCallError('held', reason, { retryAfterMs: Math.ceil(parkMs) });
}

function longWait(
  { model }: ModelName,
  answer: Extract<Admission, { kind: 'wait' }>,
  waitMostMs: number,
): ModelCallError {
  const { brake, cause, ms } = answer;
  if (cause === 'brake') {
    const reason = `rate_limited: calls of ${model} wait until ${isoTime(brake.until)} (${brake.why})`;
    return held(reason, ms);
  }
  if (cause === 'asking') return held(`provider: a probe of ${model} has not ended yet`, waitMostMs);
  const what = cause === 'turn' ? 'their turn' : 'a free place';
  return held(`rate_limited: calls of ${model} wait for ${what} for more than ${waitMostMs} ms`, waitMostMs);
}

/** What a call is told before it starts: it may be that the model is down. */
export interface Entrance {
  /** Waits until a call may start, at most `waitMostMs` in all. */
  enter(
    model: ModelName,
    signal: AbortSignal,
    onBrake: (brake: Brake) => void,
  ): Promise<{ kind: 'go'; callId: string } | { kind: 'down'; why: string }>;
}

/**
 * The way of every model call through the governor: one script says whether it may start. Short waits are spent here;
 * rejects with a `held` ModelCallError when it would be a long one, with the signal's reason when that aborts, and with
 * `unavailable` when Redis refuses. Whatever the end, nothing of the call is left in Redis then.
 */
export function createEntrance({ store, slots, times }: AdmissionDependencies): Entrance {
  const { waitMostMs } = times;

  /** One question; a stale yes is no answer. */
  async function ask(model: ModelName, callId: string, signal: AbortSignal): Promise<Admission | undefined> {
    const sentAt = performance.now();
    const answer = await untilAborted(store.admit(model, callId), signal);
    const isStale = answer.kind === 'go' && performance.now() - sentAt > FRESH_MS;
    return isStale ? undefined : answer;
  }

  async function untilAnswered(
    model: ModelName,
    callId: string,
    signal: AbortSignal,
    onBrake: (brake: Brake) => void,
  ): Promise<Exclude<Admission, { kind: 'wait' }>> {
    const began = performance.now();
    for (;;) {
      signal.throwIfAborted();
      const waitedMs = performance.now() - began;
      const answer = await ask(model, callId, signal);
      if (answer === undefined) {
        if (waitedMs > waitMostMs)
          throw held('rate_limited: this worker is too busy to make calls', waitMostMs);
        continue;
      }
      if (answer.kind !== 'wait') return answer;
      if (waitedMs + answer.ms > waitMostMs) throw longWait(model, answer, waitMostMs);
      if (answer.cause === 'brake') onBrake(answer.brake);
      if (answer.cause === 'slots') await slots.untilFreed(model, answer.ms, signal);
      else await pause(answer.ms, signal);
    }
  }

  return {
    async enter(model, signal, onBrake) {
      const callId = newSecret();
      // Sent after the question on the same connection, so it undoes also what was not answered yet.
      const leave = () => store.report(model, { id: callId, task: '', end: 'none' }).catch(() => {});
      try {
        const answer = await untilAnswered(model, callId, signal, onBrake);
        if (answer.kind === 'go') {
          slots.hold(model, callId);
          return { kind: 'go', callId };
        }
        void leave();
        return answer;
      } catch (error) {
        void leave();
        throw error;
      }
    },
  };
}
