import type { ModelName } from './rate-scripts.ts';
import { nameOfModel } from './rate-scripts.ts';
import type { RateStore } from './rate-store.ts';

/** The calls of this process that are under way. */
export interface LocalSlots {
  hold(model: ModelName, callId: string): void;
  /** A call is over; one that waits in this process is told. */
  free(model: ModelName, callId: string): void;
  /** Resolves after `ms`, when a call of the model ends in this process, or when `signal` aborts. */
  untilFreed(model: ModelName, ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

interface OfModel {
  model: ModelName;
  held: Set<string>;
  waiting: Set<() => void>;
}

/**
 * Keeps the slots of this process' calls by renewing all of a model's with one script a quarter of their lease. A
 * renewal that fails is made up for by the next one.
 */
export function createLocalSlots(store: RateStore, slotLeaseMs: number): LocalSlots {
  const models = new Map<string, OfModel>();
  const of = (model: ModelName): OfModel => {
    const name = nameOfModel(model);
    const known = models.get(name) ?? { model, held: new Set(), waiting: new Set() };
    models.set(name, known);
    return known;
  };
  const dropIdle = (model: ModelName) => {
    const { held, waiting } = of(model);
    if (held.size === 0 && waiting.size === 0) models.delete(nameOfModel(model));
  };
  const renewals = setInterval(() => {
    for (const { model, held } of models.values()) {
      if (held.size > 0) store.renew(model, [...held]).catch(() => {});
    }
  }, slotLeaseMs / 4);
  renewals.unref();
  return {
    hold: (model, callId) => void of(model).held.add(callId),
    free(model, callId) {
      const { held, waiting } = of(model);
      held.delete(callId);
      const [first] = waiting;
      first?.();
      dropIdle(model);
    },
    async untilFreed(model, ms, signal) {
      const { waiting } = of(model);
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        waiting.add(end);
        signal.addEventListener('abort', end);
        if (signal.aborted) end();
      });
      dropIdle(model);
    },
    close: () => clearInterval(renewals),
  };
}
