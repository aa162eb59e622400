import type { ReadStream } from 'node:tty';

/** Single keys from a terminal, without Enter and unseen; Ctrl-C and Ctrl-Z are keys among them. */
export interface Keyboard {
  /** Takes keys from now on, also when the terminal was left by a stopped process in another mode. */
  start(): void;
  /** Gives the terminal its usual mode back. */
  stop(): void;
}

/** Calls `onKey` with each key of `input`, once started. */
export function openKeyboard(input: ReadStream, onKey: (key: string) => void): Keyboard {
  const take = (chunk: Buffer) => {
    for (const key of chunk.toString()) onKey(key);
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
