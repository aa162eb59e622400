import type { ReadStream } from 'node:tty';

/** Single keys from a terminal, without Enter and unseen. */
export interface Keyboard {
  /** Takes keys from now on, also when the terminal was left by a stopped process in another mode. */
  start(): void;
  /** Gives the terminal its usual mode back. */
  stop(): void;
}

/** What a terminal makes of these keys, unless they are read one by one. */
const SIGNALS: ReadonlyMap<string, NodeJS.Signals> = new Map([
  ['\u0003', 'SIGINT'],
  ['\u001a', 'SIGTSTP'],
]);

/**
 * Calls `onKey` with each key of `input`. Ctrl-C and Ctrl-Z are the signals that they always are, for all processes of
 * the command: npm and a shell above this one get them as well.
 */
export function openKeyboard(input: ReadStream, onKey: (key: string) => void): Keyboard {
  const take = (chunk: Buffer) => {
    for (const key of chunk.toString()) {
      const signal = SIGNALS.get(key);
      // 0: the process group of this process.
      if (signal === undefined) onKey(key);
      else process.kill(0, signal);
    }
  };
  return {
    start() {
      // Off first: Node takes a mode that it has set for one that is still in force.
      input.setRawMode(false);
      input.setRawMode(true);
      input.off('data', take);
      input.on('data', take);
      input.resume();
    },
    stop() {
      input.off('data', take);
      input.pause();
      input.setRawMode(false);
    },
  };
}
