import type { ModelCall } from '@crewboard/agent';
import type { Boards, RedisClient } from '@crewboard/board';
import type { Log } from '../log.ts';
import { type Provider, providersOf, type Settings } from '../settings.ts';
import { createEntrance } from './admission.ts';
import { type AttemptCalls, attemptCalls } from './attempt-calls.ts';
import { createLocalSlots } from './local-slots.ts';
import { type ModelName, nameOfModel } from './rate-scripts.ts';
import { type Brake, openRateStore, type Waiting } from './rate-store.ts';
import { providerTimes } from './times.ts';
import { createWatch } from './watch.ts';

const BRAKES_REMEMBERED = 1000;

/**
 * What stands between this process and the models: a brake, a limit of calls at once and a circuit for each model,
 * shared by all processes through Redis.
 */
export interface Governor {
  /** The model calls of one attempt. */
  callsOf(provider: Provider, attempt: Waiting): AttemptCalls;
  /** Probes, wakes and resumes until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  close(): void;
}

interface GovernorDependencies {
  redis: RedisClient;
  boards: Boards;
  settings: Settings;
  callModelOf: (provider: Provider) => ModelCall;
  log: Log;
}

/** Says on a job's board that its calls wait at a brake, once a brake; a hint that may get lost. */
function brakeTeller(boards: Pick<Boards, 'markBrake'>) {
  const told = new Set<string>();
  return (jobId: string, model: ModelName, brake: Brake) => {
    const name = `${jobId} ${nameOfModel(model)} ${brake.from}`;
    if (told.has(name)) return;
    if (told.size >= BRAKES_REMEMBERED) told.clear();
    told.add(name);
    const { from, until, why: reason } = brake;
    boards.markBrake(jobId, model.model, { from, until, reason }).catch(() => {});
  };
}

/** Opens the governor of a process over a connection that the caller owns; boards must hand on what they write. */
export function createGovernor({
  redis,
  boards,
  settings,
  callModelOf,
  log,
}: GovernorDependencies): Governor {
  const times = providerTimes(settings);
  const store = openRateStore(redis, boards.keys, times);
  const slots = createLocalSlots(store, times.slotLeaseMs);
  const watch = createWatch({ store, boards, callModelOf, providers: providersOf(settings), times, log });
  const entrance = createEntrance({ store, slots, times });
  const shared = {
    boards,
    store,
    entrance,
    slots,
    watch,
    times,
    callModelOf,
    tellBrake: brakeTeller(boards),
  };
  return {
    callsOf: (provider, attempt) => attemptCalls(shared, provider, attempt),
    run: watch.run,
    close: slots.close,
  };
}
