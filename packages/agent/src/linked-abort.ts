import { setMaxListeners } from 'node:events';

/** A signal that follows its parent and can be aborted by itself. */
export interface LinkedAbort {
  signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following the parent; to be called when the work is over, or a long-lived parent keeps listeners. */
  release(): void;
}

/** Makes a signal that aborts with `parent`'s reason when `parent` does. */
export function linkAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  // As many parts of one attempt listen as tools run in parallel: no leak, so no warning.
  setMaxListeners(0, controller.signal);
  const follow = () => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => parent.removeEventListener('abort', follow),
  };
}

/**
 * Waits for `work`, but no longer than until `signal` aborts: then rejects with its reason, and what `work` still
 * does is ignored.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
