import type { ModelCall } from '@crewboard/agent';
import type { Boards } from '@crewboard/board';
import { type Actor, CrewboardError, newSecret } from '@crewboard/contracts';
import { pause } from '../lease.ts';
import type { Log } from '../log.ts';
import type { Provider } from '../settings.ts';
import { probeModel } from './probe.ts';
import { type ModelName, modelOfName } from './rate-scripts.ts';
import type { RateStore, Waiting } from './rate-store.ts';
import type { ProviderTimes } from './times.ts';

/** Tasks that one round wakes at most; rounds follow each other until all are awake. */
const WOKEN_AT_ONCE = 200;
const BY: Actor = { kind: 'harness', id: 'provider' };

export interface WatchDependencies {
  store: RateStore;
  boards: Pick<Boards, 'job' | 'wakeParked' | 'resumeJob'>;
  callModelOf: (provider: Provider) => ModelCall;
  /** Models of other providers are left to other processes. */
  providers: readonly Provider[];
  times: ProviderTimes;
  log: Log;
}

/** A job that is gone or over needs nothing any more. */
function isOver(error: unknown): boolean {
  return error instanceof CrewboardError && (error.code === 'not_found' || error.code === 'terminal');
}

/** Looks after models that fail: probes them, wakes what parked for them, resumes what paused for them. */
export function createWatch({ store, boards, callModelOf, providers, times, log }: WatchDependencies) {
  let nudge = () => {};

  /** Makes the probe if it is due and nobody else makes it; returns in how many ms to look again, if at all. */
  async function probe(model: ModelName, signal: AbortSignal): Promise<number | undefined> {
    const token = newSecret();
    const turn = await store.takeProbe(model, token);
    if (turn.kind === 'later') return turn.ms;
    if (turn.kind === 'none') return undefined;
    const end = await probeModel(callModelOf(model.provider), model.model, times, signal);
    await store.endProbe(model, token, end);
    log.info({ ...model, outcome: end.outcome, reason: end.why }, 'a model was probed');
    await (end.outcome === 'answered' ? resumeJobs(model) : forgetEnded(model));
    return 0;
  }

  /** Does something for a job; one that can't be served now is left for the next round, and keeps no other waiting. */
  async function forJob(jobId: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (isOver(error)) return true;
      log.warn({ jobId, err: error }, 'a job that waits for its model could not be told; tried again later');
      return false;
    }
  }

  async function resumeJobs(model: ModelName): Promise<void> {
    for (const jobId of await store.pausedJobs(model)) {
      const isDone = await forJob(jobId, () => boards.resumeJob(jobId, BY, 'provider'));
      if (isDone) await store.forgetPaused(model, jobId);
    }
  }

  /** Nobody probes for the sake of jobs that are over. */
  async function forgetEnded(model: ModelName): Promise<void> {
    for (const jobId of await store.pausedJobs(model)) {
      let isEnded = true;
      const isKnown = await forJob(jobId, async () => {
        isEnded = (await boards.job(jobId)).endedAt > 0;
      });
      if (isKnown && isEnded) await store.forgetPaused(model, jobId);
    }
  }

  /** Wakes tasks of one job; returns those that are done with. */
  async function wakeJob({ model }: ModelName, jobId: string, tasks: readonly Waiting[]): Promise<Waiting[]> {
    let early: string[] = [];
    const isDone = await forJob(jobId, async () => {
      early = await boards.wakeParked(jobId, model, tasks);
    });
    return isDone ? tasks.filter(({ taskId }) => !early.includes(taskId)) : [];
  }

  /** Wakes what there is to wake; false when nothing of the model is left to look after. */
  async function wake(model: ModelName): Promise<boolean> {
    for (;;) {
      const waiting = await store.toWake(model, WOKEN_AT_ONCE);
      const done: Waiting[] = [];
      for (const jobId of new Set(waiting.map((task) => task.jobId))) {
        const tasks = waiting.filter((task) => task.jobId === jobId);
        done.push(...(await wakeJob(model, jobId, tasks)));
      }
      const isLeft = await store.forget(model, done);
      // Ends: every round that goes on has made the list shorter by a whole batch.
      if (done.length < WOKEN_AT_ONCE) return isLeft;
    }
  }

  async function visit(name: string, signal: AbortSignal): Promise<number> {
    const { provider, model } = modelOfName(name);
    const ours = providers.find((each) => each === provider);
    if (ours === undefined) return times.watchMs;
    const named = { provider: ours, model };
    const nextMs = await probe(named, signal);
    return (await wake(named)) ? (nextMs ?? times.watchMs) : times.watchMs;
  }

  /** One look at every model; a model that can't be looked after now does not keep the others from it. */
  async function round(signal: AbortSignal): Promise<number> {
    const next = await Promise.all(
      (await store.watched()).map((name) =>
        visit(name, signal).catch((error: unknown) => {
          log.warn(
            { model: name, err: error },
            'a model could not be looked after; the next round tries again',
          );
          return times.watchMs;
        }),
      ),
    );
    return Math.min(times.watchMs, ...next);
  }

  return {
    /** Makes the probe of a model if it is due. */
    async probeNow(model: ModelName, signal: AbortSignal): Promise<void> {
      await probe(model, signal);
    },
    /** Lets {@link run} look at once. */
    nudge: () => nudge(),
    /** Looks until `signal` aborts. */
    async run(signal: AbortSignal): Promise<void> {
      signal.addEventListener('abort', () => nudge(), { once: true });
      while (!signal.aborted) {
        const woken = new AbortController();
        nudge = () => woken.abort();
        const nextMs = await round(signal).catch((error: unknown) => {
          log.warn({ err: error }, 'models are not looked after: Redis can not be reached');
          return times.watchMs;
        });
        if (!signal.aborted) await pause(Math.max(1, nextMs), woken.signal);
      }
    },
  };
}

export type Watch = ReturnType<typeof createWatch>;
