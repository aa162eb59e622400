import type { CrewboardError } from '@crewboard/contracts';

/** From so many errors of one code in a row on, a caller is told that it goes round in circles. */
const TIMES = 3;
/** Callers that one process remembers. */
const REMEMBERED = 10_000;

/**
 * Watches callers for the same error again and again. It remembers in this process only: it advises and refuses
 * nothing, so a caller that is forgotten is merely advised later.
 */
export interface LoopGuard {
  /** Forgets the caller's errors: its call succeeded. */
  succeeded(jobId: string, caller: string): void;
  /** Takes note of an error and returns it, from the third of its code in a row on with `loopGuard` advice. */
  failed(jobId: string, caller: string, error: CrewboardError): CrewboardError;
}

const ADVICE: Record<CrewboardError['retry'], string> = {
  same: 'wait before you send it again',
  after_fix: 'change what the error names first',
  after_refresh: 'read the task again, and decide anew',
  later: 'look what it waits for, and come back when that is over',
  never: 'stop working on this task, and take another one',
};

/** Makes a guard that remembers nobody yet. */
export function createLoopGuard(): LoopGuard {
  const errors = new Map<string, { code: string; times: number }>();
  const keyOf = (jobId: string, caller: string) => `${jobId} ${caller}`;
  return {
    succeeded(jobId, caller) {
      errors.delete(keyOf(jobId, caller));
    },
    failed(jobId, caller, error) {
      const key = keyOf(jobId, caller);
      const before = errors.get(key);
      const times = before?.code === error.code ? before.times + 1 : 1;
      // Put in anew, so that the one who has been quiet for longest stands first.
      errors.delete(key);
      errors.set(key, { code: error.code, times });
      if (errors.size > REMEMBERED) {
        const [oldest] = errors.keys();
        if (oldest !== undefined) errors.delete(oldest);
      }
      if (times < TIMES) return error;
      const loopGuard = `${error.code} ${times} times in a row: the same call will not help. Instead, ${ADVICE[error.retry]}.`;
      return error.with({ loopGuard });
    },
  };
}
