import type { ReadStream, WriteStream } from 'node:tty';
import { openKeyboard } from './keyboard.ts';
import { type Hold, listenForStops, WHOLE_GROUP } from './stops.ts';

/** The whole terminal, drawn over and over; what stood there before comes back when it is closed. */
export interface Screen {
  columns(): number;
  rows(): number;
  /** True when somebody can leave by a key. */
  hasKeys: boolean;
  /** Shows `lines` from the top, in place of all that was shown; writes nothing when nothing changed. */
  draw(lines: readonly string[]): void;
  /** Calls `action` when the terminal's size has changed. */
  onResize(action: () => void): void;
  /** Calls `action` when a person presses q. */
  onQuit(action: () => void): void;
  /** Gives the terminal back, its cursor visible. */
  close(): void;
}

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_REST_OF_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const CTRL_C = '\u0003';
const CTRL_Z = '\u001a';

/**
 * Takes the terminal behind `output` until closed, also when the process ends without closing it; with `input` keys
 * count.
 */
export function openScreen(output: WriteStream, input?: ReadStream): Screen {
  let shown = '';
  let resized: (() => void) | undefined;
  let quit: (() => void) | undefined;
  let isTaken = false;
  const keyboard = input && openKeyboard(input, onKey);
  const hold: Hold = {
    take() {
      keyboard?.start();
      if (!isTaken) output.write(ENTER);
      isTaken = true;
    },
    giveBack() {
      if (isTaken) output.write(LEAVE);
      isTaken = false;
      keyboard?.stop();
    },
  };
  const redraw = () => {
    shown = '';
    resized?.();
  };
  const stops = listenForStops(hold, redraw);
  function onKey(key: string): void {
    if (key === 'q' || key === 'Q') quit?.();
    // What the terminal does itself where keys are not read one by one.
    else if (key === CTRL_C) process.kill(WHOLE_GROUP, 'SIGINT');
    else if (key === CTRL_Z) stops.stop();
  }
  hold.take();
  process.once('exit', hold.giveBack);
  output.on('resize', redraw);
  return {
    columns: () => output.columns || 80,
    rows: () => output.rows || 24,
    hasKeys: keyboard !== undefined,
    draw(lines) {
      // In one write and without clearing first: a terminal that paints in between would flicker.
      const text = lines.map((line) => `${line}${CLEAR_REST_OF_LINE}`).join('\r\n');
      if (text === shown) return;
      shown = text;
      output.write(`${HOME}${text}${CLEAR_BELOW}`);
    },
    onResize(action) {
      resized = action;
    },
    onQuit(action) {
      quit = action;
    },
    close() {
      process.off('exit', hold.giveBack);
      stops.release();
      output.off('resize', redraw);
      hold.giveBack();
    },
  };
}
