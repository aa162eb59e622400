import type { Terminal } from './terminal.ts';
import { wrapText } from './wrap.ts';

/** Prints `text`, a line feed after it, as data that people read: broken between words where a terminal shows it. */
export function printText(terminal: Terminal, text: string): Promise<void> {
  return terminal.data(`${wrapText(text, terminal.dataColumns())}\n`);
}
