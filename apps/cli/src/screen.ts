import type { WriteStream } from 'node:tty';

/** The whole terminal, drawn over and over; what stood there before comes back when it is closed. */
export interface Screen {
  columns(): number;
  rows(): number;
  /** Shows `lines` from the top, in place of all that was shown; writes nothing when nothing changed. */
  draw(lines: readonly string[]): void;
  /** Calls `action` when the terminal's size has changed. */
  onResize(action: () => void): void;
  /** Gives the terminal back, its cursor visible. */
  close(): void;
}

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_REST_OF_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Takes the terminal behind `stream` until closed, also when the process ends without closing it. */
export function openScreen(stream: WriteStream): Screen {
  let shown = '';
  let resized: (() => void) | undefined;
  const leave = () => stream.write(LEAVE);
  const redraw = () => {
    shown = '';
    resized?.();
  };
  process.once('exit', leave);
  // A process that was stopped by Ctrl-Z comes back to a terminal that others have written on.
  process.on('SIGCONT', redraw);
  stream.on('resize', redraw);
  stream.write(ENTER);
  return {
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
    draw(lines) {
      // In one write and without clearing first: a terminal that paints in between would flicker.
      const text = lines.map((line) => `${line}${CLEAR_REST_OF_LINE}`).join('\r\n');
      if (text === shown) return;
      shown = text;
      stream.write(`${HOME}${text}${CLEAR_BELOW}`);
    },
    onResize(action) {
      resized = action;
    },
    close() {
      process.off('exit', leave);
      process.off('SIGCONT', redraw);
      stream.off('resize', redraw);
      leave();
    },
  };
}
