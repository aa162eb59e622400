/** Ctrl-C twice within this time is one request: npm hands on the signal that the terminal sent to all anyway. */
const SAME_REQUEST_MS = 500;

import { watchNpm } from './local/npm-watch.ts';

/** The reason of an abort that nobody's signal asked for. */
export class NpmGone extends Error {
  override name = 'NpmGone';
  override message = 'the npm that started this is gone';
}

/** What the user's signals ask for. */
export interface Interrupt {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP, and when the npm that runs this process is gone (reason {@link NpmGone}). */
  signal: AbortSignal;
  /** Aborts at a later one: stop at once. */
  force: AbortSignal;
  /** Gives the signals back to their default. */
  release(): void;
}

/** Listens for SIGINT, SIGTERM, SIGHUP and the end of the npm that runs `npmScript`, until released. */
export function listenForInterrupt(npmScript: string | undefined): Interrupt {
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
  const forgetNpm = watchNpm(npmScript, () => first.abort(new NpmGone()));
  return {
    signal: first.signal,
    force: second.signal,
    release() {
      forgetNpm();
      for (const name of names) process.off(name, onSignal);
    },
  };
}
