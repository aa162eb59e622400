import { type AgentOptions, createModelCall, type ModelCall, runAgent } from '@crewboard/agent';
import { CrewboardError, type JobSpec } from '@crewboard/contracts';
import type { LeaseKeeper } from './lease.ts';
import type { Log } from './log.ts';
import type { Provider, Settings } from './settings.ts';

const TOOL_TIMEOUT_MS = 120_000;
const PARALLEL_TOOLS = 8;
/** Above one whole answer of read_file or board_get, below what would crowd out a conversation. */
const RESULT_CHARS = 110_000;

/** The model call of each provider that this process can serve. */
export function modelCalls(settings: Settings): (provider: Provider) => ModelCall {
  const calls = new Map<Provider, ModelCall>();
  return (provider) => {
    const access = settings.providers[provider];
    if (access === undefined)
      throw new CrewboardError('unavailable', `this worker has no access to ${provider}`);
    const call = calls.get(provider) ?? createModelCall({ ...access, idleMs: settings.modelIdleMs });
    calls.set(provider, call);
    return call;
  };
}

/** The limits of one attempt: those of its task before those of the job. `usedMs`: time that it was at work already. */
export function limitsFor(
  spec: JobSpec,
  task: { limits?: { maxTurns?: number | undefined; timeoutMs?: number | undefined } | undefined },
  settings: Settings,
  usedMs = 0,
): AgentOptions['limits'] {
  return {
    maxTurns: task.limits?.maxTurns ?? spec.limits.maxTurns,
    timeoutMs: Math.max(1, (task.limits?.timeoutMs ?? spec.limits.taskTimeoutMs) - usedMs),
    toolTimeoutMs: TOOL_TIMEOUT_MS,
    parallelTools: PARALLEL_TOOLS,
    modelTries: settings.modelTries,
    modelRetryMs: settings.modelRetryMs,
    maxResultChars: RESULT_CHARS,
  };
}

/** What a run is told by its lease: to park once the job is paused. */
export function parkAskedBy(lease: Pick<LeaseKeeper, 'paused'>): () => string | undefined {
  return () => (lease.paused ? 'the job is paused' : undefined);
}

/** Runs the agent and logs what happens by the way. */
export function runLogged(options: Omit<AgentOptions, 'emit'>, log: Log, fields: object) {
  return runAgent({
    ...options,
    emit(event) {
      if (event.type === 'model.retry')
        log.warn({ ...fields, ...event }, 'a model call failed and is tried again');
      else if (event.type !== 'stopped') log.debug({ ...fields, ...event }, event.type);
    },
  });
}
