import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CrewboardError } from '@crewboard/contracts';
import { ChildMessage } from './child-message.ts';
import { type LogFile, readableLogLine } from './log-file.ts';
import { endsInTime, type ProcessEnd, type Running, type StopOptions } from './running.ts';

/** The program that children run: this CLI with another subcommand, from source or built. */
export const CLI_FILE = fileURLToPath(new URL('../../bin/crewboard.js', import.meta.url));

const READY_WITHIN_MS = 60_000;
const ENDS_WITHIN_MS = 5000;

export interface ChildOptions {
  name: string;
  /** The module to run with this Node, and its arguments. */
  file: string;
  args: readonly string[];
  /** The child's whole environment; absent: that of this process. */
  variables?: Readonly<Record<string, string>> | undefined;
  log: LogFile;
  readyWithinMs?: number;
}

/** Resolves when `child` has ended, with its exit code or signal; never rejects. */
export function endOf(child: ChildProcess, log: LogFile): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ reason: error.message, lastLines: log.lastLines() }));
    // "close" comes after the last output was read, so the last lines are whole.
    child.once('close', (code, signal) => {
      const reason = signal === null ? `exit code ${code}` : `signal ${signal}`;
      resolve({ reason, lastLines: log.lastLines() });
    });
  });
}

/** Ends a child that leads its own process group: SIGTERM, then SIGKILL for all of the group. */
export async function stopChild(
  child: ChildProcess,
  ended: Promise<unknown>,
  how: StopOptions,
): Promise<void> {
  child.kill('SIGTERM');
  if (await endsInTime(ended, how)) return;
  killGroup(child);
  await endsInTime(ended, { graceMs: ENDS_WITHIN_MS });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

function firstMessage(child: ChildProcess): Promise<ChildMessage> {
  return new Promise((resolve) => {
    const take = (raw: unknown) => {
      const message = ChildMessage.safeParse(raw);
      if (!message.success) return;
      child.off('message', take);
      resolve(message.data);
    };
    child.on('message', take);
  });
}

function timeLimit(ms: number, signal: AbortSignal): { reached: Promise<'time' | 'aborted'>; clear(): void } {
  let clear = () => {};
  const reached = new Promise<'time' | 'aborted'>((resolve) => {
    const timer = setTimeout(() => resolve('time'), ms);
    const onAbort = () => resolve('aborted');
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    clear = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  return { reached, clear };
}

/**
 * Starts a Node child that reports over IPC, and resolves when it says that it is ready. It leads a process group
 * of its own, so that a terminal's Ctrl-C reaches only the supervisor, which ends its children in order; and its
 * IPC channel closes when the supervisor dies in any way, upon which it ends by itself (see `foreground.ts`).
 * Rejects with `unavailable`, the child being gone, when it fails, ends, takes over `readyWithinMs` or `signal`
 * aborts.
 */
export async function startChild(options: ChildOptions, signal: AbortSignal): Promise<Running> {
  const { name, log, readyWithinMs = READY_WITHIN_MS } = options;
  const child = spawn(process.execPath, [options.file, ...options.args], {
    ...(options.variables === undefined ? {} : { env: options.variables }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  child.stdout?.on('data', log.write);
  child.stderr?.on('data', log.write);
  const ended = endOf(child, log);
  const limit = timeLimit(readyWithinMs, signal);
  const first = await Promise.race([firstMessage(child), ended, limit.reached]).finally(limit.clear);

  if (typeof first === 'object' && 'type' in first && first.type === 'ready' && child.pid !== undefined) {
    return { pid: child.pid, url: first.url, ended, stop: (how) => stopChild(child, ended, how) };
  }
  await stopChild(child, ended, { graceMs: ENDS_WITHIN_MS });
  throw new CrewboardError('unavailable', `${name} did not start: ${whyNot(first, readyWithinMs)}`);
}

function whyNot(first: ChildMessage | ProcessEnd | 'time' | 'aborted', readyWithinMs: number): string {
  if (first === 'aborted') return 'interrupted';
  if (first === 'time') return `not ready after ${readyWithinMs / 1000} s`;
  if ('reason' in first) return [first.reason, ...first.lastLines.slice(-3).map(readableLogLine)].join(' | ');
  return first.type === 'failed' ? first.detail : 'it has no process ID';
}
