import type { WriteStream } from 'node:tty';
import { shownLine } from '@crewboard/contracts';
import { readAnswer } from './read-answer.ts';
import { openScreen, type Screen } from './screen.ts';
import { wrapText } from './wrap.ts';

/**
 * The one place that writes to the terminal: data goes to stdout, so that it can be piped; messages and progress
 * go to stderr.
 */
export interface Terminal {
  /** Writes data; resolves when the stream takes more, so that long outputs don't pile up in memory. */
  data(text: string): Promise<void>;
  /** Writes one message, broken between words where the terminal's line ends. */
  message(line: string): void;
  /** Shows `line` in place of the last status, cut to the terminal's width, on a terminal only; `undefined` removes it. */
  status(line: string | undefined): void;
  /** Takes the whole terminal for a live display; undefined where messages or data go to none. */
  openScreen(): Screen | undefined;
  /**
   * Asks a person and returns the line given: undefined at the end of input and when `signal` aborts; and, without
   * asking, where nobody can answer.
   */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** True when messages are read by a person on a terminal: progress may then redraw. */
  isInteractive: boolean;
  /** Whether data, and messages, may be coloured. */
  colours: { data: boolean; messages: boolean };
  /** Columns of the terminal that data goes to; undefined in a pipe. */
  dataColumns(): number | undefined;
}

/** What the user wants of colours; `auto`: on terminals that have them. */
export type ColourWish = 'always' | 'never' | 'auto';

const CLEAR_LINE = '\r\u001b[2K';

function takesColours(stream: WriteStream, wish: ColourWish, variables: object | undefined): boolean {
  return wish === 'auto' ? stream.isTTY === true && stream.hasColors(variables) : wish === 'always';
}

/** Returns the terminal of this process; `variables` tell what colours it has, the process' own when absent. */
export function openTerminal(wish: ColourWish = 'auto', variables?: object): Terminal {
  const { stdin, stdout, stderr } = process;
  const isInteractive = stderr.isTTY === true;
  let shown = '';
  let writesData = false;
  // `crewboard results ... | head` closes the pipe early: that is no error, and nobody is left to tell. A child of
  // `up` writes no data: when its supervisor is killed, it has to stop in order all the same.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (writesData) process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  stderr.on('error', () => {});

  const columns = () => stderr.columns || 80;
  function message(text: string): void {
    const line = isInteractive ? wrapText(text, columns()) : text;
    stderr.write(shown === '' ? `${line}\n` : `${CLEAR_LINE}${line}\n${shown}`);
  }
  function status(line: string | undefined): void {
    if (!isInteractive) return;
    const fitting = shownLine(line ?? '', Math.max(10, columns() - 1));
    if (fitting === shown) return;
    shown = fitting;
    stderr.write(`${CLEAR_LINE}${shown}`);
  }
  function data(text: string): Promise<void> {
    writesData = true;
    return new Promise((resolve) => {
      if (stdout.write(text)) resolve();
      else stdout.once('drain', resolve);
    });
  }
  return {
    data,
    message,
    status,
    isInteractive,
    openScreen() {
      if (!isInteractive || stdout.isTTY !== true) return undefined;
      return openScreen(stderr, stdin.isTTY === true ? stdin : undefined);
    },
    async ask(question, signal) {
      if (!isInteractive || stdin.isTTY !== true) return undefined;
      status(undefined);
      stderr.write(`${question} `);
      const answer = await readAnswer(stdin, signal);
      // No key has ended the line of the question.
      if (answer === undefined) stderr.write('\n');
      return answer;
    },
    colours: {
      data: takesColours(stdout, wish, variables),
      messages: takesColours(stderr, wish, variables),
    },
    dataColumns: () => (stdout.isTTY === true ? stdout.columns : undefined),
  };
}
