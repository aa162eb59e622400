import { type ModelCall, ModelCallError, type ModelRequest } from '@crewboard/agent';
import type { ProbeEnd } from './rate-store.ts';
import type { ProviderTimes } from './times.ts';

/** The smallest request there is: one token says that the model is there. */
function probeRequest(model: string): ModelRequest {
  return {
    model,
    system: [{ type: 'text', text: 'You are asked whether you are there.' }],
    tools: [],
    messages: [{ role: 'user', content: 'ping' }],
    maxTokens: 1,
  };
}

const OUTCOMES = {
  overloaded: 'down',
  transient: 'down',
  rate_limited: 'limited',
  provider: 'refused',
  // The model has read the request.
  context: 'answered',
  held: 'dropped',
} as const;

/** A server that refuses so small a request has read it: key and model are right. */
function outcomeOf({ kind, status }: ModelCallError): ProbeEnd {
  return kind === 'provider' && status === 400 ? 'answered' : OUTCOMES[kind];
}

/** Makes one probe call. Never rejects; `dropped` when `signal` aborted it. */
export async function probeModel(
  callModel: ModelCall,
  model: string,
  times: Pick<ProviderTimes, 'probeTimeoutMs' | 'brakeMs'>,
  signal: AbortSignal,
): Promise<{ outcome: ProbeEnd; why: string; askedMs: number }> {
  const late = AbortSignal.timeout(times.probeTimeoutMs);
  try {
    await callModel(probeRequest(model), { signal: AbortSignal.any([signal, late]) });
    return { outcome: 'answered', why: '', askedMs: 0 };
  } catch (error) {
    if (signal.aborted) return { outcome: 'dropped', why: '', askedMs: 0 };
    const why = error instanceof Error ? error.message : String(error);
    if (!(error instanceof ModelCallError)) return { outcome: 'down', why, askedMs: 0 };
    const outcome = outcomeOf(error);
    const askedMs = error.retryAfterMs ?? (outcome === 'limited' ? times.brakeMs : 0);
    return { outcome, why: error.message, askedMs };
  }
}
