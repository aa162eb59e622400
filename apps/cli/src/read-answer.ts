import { createInterface } from 'node:readline';

/**
 * Reads one line from `input`; undefined at its end and when `signal` aborts. A terminal stays in its usual mode: Ctrl-C
 * is still a signal.
 */
export function readAnswer(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input, terminal: false });
  return new Promise((resolve) => {
    const finish = (line?: string) => {
      // Before closing, which tells of itself as of the end of the input.
      resolve(line);
      signal.removeEventListener('abort', abort);
      lines.close();
    };
    const abort = () => finish();
    lines.once('line', finish);
    lines.once('close', abort);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
}
