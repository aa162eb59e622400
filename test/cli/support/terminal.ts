import { EventEmitter, once } from 'node:events';
import type { Terminal } from '../../../apps/cli/src/terminal.ts';

/** A terminal that keeps what was written. */
export interface RecordedTerminal extends Terminal {
  out(): string;
  messages: string[];
  /** Resolves when `text` has been said in a message. */
  said(text: string): Promise<void>;
}

/** Returns a terminal that is no TTY and records data and messages. */
export function recordedTerminal(): RecordedTerminal {
  let out = '';
  const messages: string[] = [];
  const spoken = new EventEmitter();
  return {
    isInteractive: false,
    messages,
    out: () => out,
    async data(text) {
      out += text;
    },
    async said(text) {
      while (!messages.some((line) => line.includes(text))) await once(spoken, 'message');
    },
    message(line) {
      messages.push(line);
      spoken.emit('message');
    },
    status() {},
    openScreen: () => undefined,
    ask: async () => undefined,
    colours: { data: false, messages: false },
    dataColumns: () => undefined,
  };
}
