/** Something that runs now and then, on request. */
export interface Throttled {
  /** Has it run soon: at once, or when its interval is over. */
  request(): void;
  /** Resolves when the last run is over; later requests do nothing. */
  end(): Promise<void>;
}

/** Runs `action` now and then: at most once in `intervalMs`, never twice at a time, and once more after the last request. */
export function atMostEvery(intervalMs: number, action: () => Promise<void>): Throttled {
  let timer: NodeJS.Timeout | undefined;
  let lastAt = Number.NEGATIVE_INFINITY;
  let running = Promise.resolve();
  let isOver = false;
  const run = async () => {
    await running;
    timer = undefined;
    if (isOver) return;
    lastAt = performance.now();
    running = action();
  };
  return {
    request() {
      if (isOver) return;
      timer ??= setTimeout(() => void run(), Math.max(0, lastAt + intervalMs - performance.now()));
    },
    async end() {
      isOver = true;
      clearTimeout(timer);
      await running;
    },
  };
}
