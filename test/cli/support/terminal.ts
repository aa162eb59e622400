import type { Terminal } from '../../../apps/cli/src/terminal.ts';

/** A terminal that keeps what was written. */
export interface RecordedTerminal extends Terminal {
  out(): string;
  messages: string[];
}

/** Returns a terminal that is no TTY and records data and messages. */
export function recordedTerminal(): RecordedTerminal {
  let out = '';
  const messages: string[] = [];
  return {
    isInteractive: false,
    messages,
    out: () => out,
    async data(text) {
      out += text;
    },
    message(line) {
      messages.push(line);
    },
    status() {},
  };
}
