/** A wait that is bounded by time and by the caller's own signal. */
export interface Deadline {
  signal: AbortSignal;
  /** True once the time was up (not when the caller aborted). */
  readonly expired: boolean;
  /** Starts the time anew. */
  renew(): void;
  /** Stops the time: the caller, not the server, is the one who is busy now. */
  pause(): void;
  /** Ends the wait; nothing aborts after that. */
  end(): void;
}

/** Returns a running deadline of `ms` that also aborts with `outer`. */
export function startDeadline(ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let expired = false;
  const abortByCaller = () => controller.abort(outer?.reason);
  const pause = () => clearTimeout(timer);
  const renew = () => {
    pause();
    timer = setTimeout(() => {
      expired = true;
      controller.abort();
    }, ms);
  };
  if (outer?.aborted) abortByCaller();
  else outer?.addEventListener('abort', abortByCaller, { once: true });
  renew();
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    renew,
    pause,
    end() {
      pause();
      outer?.removeEventListener('abort', abortByCaller);
    },
  };
}
