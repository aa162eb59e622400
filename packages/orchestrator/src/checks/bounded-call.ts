import { createContext, Script } from 'node:vm';

const CALL = new Script('work()');

/** True when `error` says that a bounded call took too long. */
export function isCallTimeout(error: unknown): boolean {
  // Made in another realm, so it is no instance of this one's Error.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/**
 * Runs `work`, which must not wait for anything, and stops it after `timeoutMs`: a pattern in somebody's schema may
 * need longer than the universe for a text, and would hold every lease of the process up. Throws what `work` throws, or
 * an error that {@link isCallTimeout} knows.
 */
export function callWithin<T>(timeoutMs: number, work: () => T): T {
  const done: { value: T }[] = [];
  const context = createContext({
    work: () => {
      done.push({ value: work() });
    },
  });
  CALL.runInContext(context, { timeout: timeoutMs });
  const [result] = done;
  if (result === undefined) throw new Error('the call did not end');
  return result.value;
}
