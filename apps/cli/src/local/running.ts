/** How a process ended, for people: "exit code 1", "signal SIGKILL", and the last lines it wrote. */
export interface ProcessEnd {
  reason: string;
  lastLines: readonly string[];
}

/** A process that is up and serves. */
export interface Running {
  pid: number;
  /** Where it listens, if it does. */
  url?: string | undefined;
  /** Settles when the process has ended, for whatever reason; never rejects. */
  ended: Promise<ProcessEnd>;
  /**
   * Asks the process to end, and kills it after `graceMs` or as soon as `force` aborts.
   * Resolves when it is gone; must not throw.
   */
  stop(how: StopOptions): Promise<void>;
}

export interface StopOptions {
  graceMs: number;
  force?: AbortSignal | undefined;
}

/** Resolves to true when `ended` settles first, to false after `graceMs` or when `force` aborts. */
export function endsInTime(ended: Promise<unknown>, how: StopOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (value: boolean) => {
      clearTimeout(timer);
      how.force?.removeEventListener('abort', giveUp);
      resolve(value);
    };
    const giveUp = () => finish(false);
    const timer = setTimeout(giveUp, how.graceMs);
    if (how.force?.aborted) giveUp();
    else how.force?.addEventListener('abort', giveUp);
    ended.then(() => finish(true));
  });
}
