import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { safeLine } from '../text.ts';

const MAX_BYTES = 10_000_000;
const MAX_LINES = 20;
const MAX_LINE_CHARACTERS = 2000;

/** A child's log: a file of bounded size (one older generation kept), and its last lines for crash reports. */
export interface LogFile {
  write(chunk: Buffer): void;
  /** The last lines that are not routine: warnings, errors and what is not structured. */
  lastLines(): string[];
  close(): void;
}

/** A structured log entry; levels below 40 (warn) are routine. */
const Entry = z.object({
  level: z.number(),
  msg: z.string(),
  err: z.object({ message: z.string() }).optional(),
});
const WARN_LEVEL = 40;

function parseEntry(line: string): z.infer<typeof Entry> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return Entry.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** True for a structured entry of level warn or above: what other lines are worth, nobody can tell. */
export function isWarning(line: string): boolean {
  return (parseEntry(line)?.level ?? 0) >= WARN_LEVEL;
}

/** True for a line that tells nothing about why a process ended. */
function isRoutine(line: string): boolean {
  return line.trim() === '' || (parseEntry(line)?.level ?? WARN_LEVEL) < WARN_LEVEL;
}

/** Returns a log line for the terminal: of a structured entry its message and error, the rest as it is. */
export function readableLogLine(line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return safeLine(line, 500);
  const { msg, err } = entry;
  return safeLine(err === undefined || err.message === msg ? msg : `${msg}: ${err.message}`, 500);
}

/**
 * Opens the log at `path`, moving the one before it to `<path>.1`. Writes are synchronous: they are small, in
 * order, and there when the child or the supervisor is killed.
 */
export function openLogFile(path: string, maxBytes = MAX_BYTES): LogFile {
  let fd = open();
  let bytes = 0;
  let lines: string[] = [];
  let rest = '';

  function open(): number {
    const opened = openSync(path, 'a', 0o600);
    if (fstatSync(opened).size === 0) return opened;
    closeSync(opened);
    renameSync(path, `${path}.1`);
    return openSync(path, 'a', 0o600);
  }

  function remember(text: string): void {
    const parts = (rest + text).split('\n');
    rest = (parts.pop() ?? '').slice(0, MAX_LINE_CHARACTERS);
    lines = [...lines, ...parts.filter((line) => !isRoutine(line))]
      .slice(-MAX_LINES)
      .map((line) => line.slice(0, MAX_LINE_CHARACTERS));
  }

  return {
    write(chunk) {
      remember(chunk.toString('utf8'));
      try {
        if (bytes + chunk.length > maxBytes) {
          closeSync(fd);
          fd = open();
          bytes = 0;
        }
        bytes += writeSync(fd, chunk);
      } catch {
        // A full disk must not stop the supervisor; the last lines are still kept in memory.
      }
    },
    lastLines: () => (isRoutine(rest) ? [...lines] : [...lines, rest]),
    close: () => closeSync(fd),
  };
}
