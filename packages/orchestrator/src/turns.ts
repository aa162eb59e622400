import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Makes many who each have much to do in small parts take turns with each other, and all of them with everything else
 * that the process does: one part runs, then the event loop goes round once.
 */
export interface Turns {
  /** Resolves when it is the caller's turn. */
  mine(): Promise<void>;
}

/** Returns turns that nobody waits for yet. */
export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  return {
    mine() {
      last = last.then(() => nextTurn());
      return last;
    },
  };
}
