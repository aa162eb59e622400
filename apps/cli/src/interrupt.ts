/** Ctrl-C twice within this time is one request: npm hands on the signal that the terminal sent to all anyway. */
const SAME_REQUEST_MS = 500;

/** What the user's signals ask for. */
export interface Interrupt {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. */
  signal: AbortSignal;
  /** Aborts at a later one: stop at once. */
  force: AbortSignal;
  /** Gives the signals back to their default. */
  release(): void;
}

/** Listens for SIGINT, SIGTERM and SIGHUP until released. */
export function listenForInterrupt(): Interrupt {
  const first = new AbortController();
  const second = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!first.signal.aborted) {
      firstAt = performance.now();
      first.abort();
    } else if (performance.now() - firstAt > SAME_REQUEST_MS) {
      second.abort();
    }
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, onSignal);
  return {
    signal: first.signal,
    force: second.signal,
    release() {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
