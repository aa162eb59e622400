/**
 * The one place that writes to the terminal: data goes to stdout, so that it can be piped; messages and progress
 * go to stderr.
 */
export interface Terminal {
  /** Writes data; resolves when the stream takes more, so that long outputs don't pile up in memory. */
  data(text: string): Promise<void>;
  /** Writes one message line. */
  message(line: string): void;
  /** Shows `line` in place of the last status, on a terminal only; `undefined` removes it. */
  status(line: string | undefined): void;
  /** True when messages are read by a person on a terminal: progress may then redraw. */
  isInteractive: boolean;
}

const CLEAR_LINE = '\r\u001b[2K';

/** Returns the terminal of this process. */
export function openTerminal(): Terminal {
  const { stdout, stderr } = process;
  const isInteractive = stderr.isTTY === true;
  let shown = '';
  let writesData = false;
  // `crewboard results ... | head` closes the pipe early: that is no error, and nobody is left to tell. A child of
  // `up` writes no data: when its supervisor is killed, it has to stop in order all the same.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (writesData) process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  stderr.on('error', () => {});

  function message(line: string): void {
    stderr.write(shown === '' ? `${line}\n` : `${CLEAR_LINE}${line}\n${shown}`);
  }
  function status(line: string | undefined): void {
    if (!isInteractive) return;
    const fitting = (line ?? '').slice(0, Math.max(10, (stderr.columns ?? 80) - 1));
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
  return { data, message, status, isInteractive };
}
