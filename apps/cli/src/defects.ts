import { explain } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** The part of `process` that tells of errors that nobody caught. */
export interface Defective {
  on(event: 'uncaughtException', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
}

/**
 * Ends the process at an error that nobody caught, with one line: Node would print all that the error carries, and that
 * may be a request with its headers. A service has the rest in its log, which is told first.
 */
export function endAtDefects(process: Defective, terminal: Pick<Terminal, 'message' | 'status'>): void {
  process.on('uncaughtException', (error) => {
    terminal.status(undefined);
    terminal.message(`crewboard: a defect ended this process: ${explain(error)}`);
    // After the other listeners.
    setImmediate(() => process.exit(1));
  });
}
