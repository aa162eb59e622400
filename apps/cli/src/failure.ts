import { CrewboardError } from '@crewboard/contracts';
import { safeLine } from './text.ts';

/** What the command's exit code says: 2 means "what you gave is wrong", 130 that Ctrl-C ended it. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Thrown when Ctrl-C or SIGTERM ended a command; `message` says what goes on and how to end it. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

function portOf(error: NodeJS.ErrnoException): string {
  return 'port' in error ? String(error.port) : '';
}

/** The error for a port that another process has: names the port and what to do. */
export function portTaken(port: number | string): CrewboardError {
  return new CrewboardError(
    'unavailable',
    `port ${port} is taken: stop what listens there, or choose another with CREWBOARD_PORT or up --port N (0 takes a free one)`,
  );
}

/** Returns what happened in one line, safe for a terminal, with the fix where it is known. */
export function explain(error: unknown): string {
  if (error instanceof CrewboardError) {
    const next = error.extras.next === undefined ? '' : `; next: ${error.extras.next}`;
    return safeLine(`${error.detail.split('\n')[0]}${next}`, 600);
  }
  if (isSystemError(error) && error.code === 'EADDRINUSE') return explain(portTaken(portOf(error)));
  if (isSystemError(error) && (error.code === 'EACCES' || error.code === 'EPERM')) {
    return safeLine(
      `${error.message}: check the permissions, or choose another folder with CREWBOARD_DATA_DIR`,
      600,
    );
  }
  return safeLine(error instanceof Error ? error.message : String(error), 600);
}

/** Returns the exit code for a command that ended with `error`. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return EXIT.interrupted;
  if (error instanceof CrewboardError && error.code === 'invalid_argument') return EXIT.usage;
  return EXIT.failed;
}
