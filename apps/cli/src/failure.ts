import { CrewboardError, type ErrorCode, redactText } from '@crewboard/contracts';
import { knownTrouble } from './file-trouble.ts';
import { safeLine } from './text.ts';

/**
 * What the command's exit code says: 2 means "what you gave is wrong", 130 that Ctrl-C ended it; 1 is for a job that
 * did not succeed, for what can't be done as things stand (the job has ended, say), and for a server that failed or
 * can't be reached.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const MAX_CHARACTERS = 600;

/** Thrown when Ctrl-C or SIGTERM ended a command; `message` says what goes on and how to end it. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

/** The error for a port that another process has: names the port and what to do. */
export function portTaken(port: number | string): CrewboardError {
  return new CrewboardError(
    'unavailable',
    `port ${port} is taken: stop what listens there, or choose another with CREWBOARD_PORT or up --port N (0 takes a free one)`,
  );
}

/** The words for an error of the operating system, with the fix where the cause is plain. */
function explainSystemError(error: NodeJS.ErrnoException): string {
  const { code, message, syscall, path } = error;
  if (code === 'EADDRINUSE') return portTaken('port' in error ? String(error.port) : '').detail;
  if (code === 'EADDRNOTAVAIL') return `${message}: set CREWBOARD_HOST to an address of this machine`;
  if (code !== 'EACCES' && code !== 'EPERM')
    return path === undefined ? message : (knownTrouble(error, path) ?? message);
  if (syscall === 'listen') return `${message}: choose a port above 1023 with CREWBOARD_PORT or up --port N`;
  const what = path === undefined ? message : `${path} may not be read or written`;
  return `${what}: check the permissions, or choose another folder with CREWBOARD_DATA_DIR`;
}

/** What the API advises to call next, as a command; what has none is for models and is left out. */
const NEXT_COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/^GET \/v1\/jobs$/, '`crewboard ls` lists them'],
  [/^GET \/v1\/keys$/, '`crewboard keys ls` lists them'],
  [/^GET \/v1\/jobs\/(job_\w+)\/tasks$/, '`crewboard board $1` lists them'],
];

function nextCommand({ code, extras: { next } }: CrewboardError): string | undefined {
  if (code !== 'not_found' || typeof next !== 'string') return undefined;
  const [call, command] = NEXT_COMMANDS.find(([pattern]) => pattern.test(next)) ?? [];
  return call === undefined || command === undefined ? undefined : next.replace(call, command);
}

/** The words for a refusal of the API, whose own are for programs and models. */
function explainRefusal(error: CrewboardError): string {
  const [first = ''] = error.detail.split('\n');
  const what = first.replace(/ ?Nothing was changed\./, '').replace(/\.$/, '');
  const next = nextCommand(error);
  return next === undefined ? what : `${what}: ${next}`;
}

function wordsFor(error: unknown): string {
  if (error instanceof CrewboardError) return explainRefusal(error);
  if (isSystemError(error)) return explainSystemError(error);
  return error instanceof Error ? error.message : String(error);
}

/** Returns what happened in one line, without secrets, safe for a terminal, with the fix where it is known. */
export function explain(error: unknown): string {
  return safeLine(redactText(wordsFor(error)), MAX_CHARACTERS);
}

/** The codes that are not about what was given, but about the server, or about how things stand: later it may work. */
const FAILURES: ReadonlySet<ErrorCode> = new Set([
  'unavailable',
  'rate_limited',
  'terminal',
  'invalid_transition',
  'stale_version',
  'board_paused',
  'plan_mode',
  'budget_exhausted',
]);

/** Returns the exit code for a command that ended with `error`. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return EXIT.interrupted;
  if (!(error instanceof CrewboardError)) return EXIT.failed;
  return FAILURES.has(error.code) ? EXIT.failed : EXIT.usage;
}
