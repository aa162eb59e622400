import { setTimeout as delay } from 'node:timers/promises';

/** What `work` answers; `late` when it has not by `ms` from now. It is not ended by that. Keeps no process alive. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | 'late'> {
  const over = new AbortController();
  const late = delay(ms, 'late' as const, { signal: over.signal, ref: false }).catch(() => 'late' as const);
  // The work itself may fail after nobody waits for it any more.
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => over.abort());
}
