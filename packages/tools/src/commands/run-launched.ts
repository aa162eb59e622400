import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { createBoundedOutput } from './bounded-output.ts';

/** How a command ended. */
export interface CommandEnd {
  /** Null when a signal ended it. In the sandbox the shell's 128 + n stands for a signal. */
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  /** Standard output and error in order of arrival: the first and the last part when there was more than fits. */
  output: string;
  truncated: boolean;
  durationMs: number;
}

export interface CommandBounds {
  /** Bytes of output that are kept, half of them from its end. */
  outputBytes: number;
  /** How long a command that was asked to end (SIGTERM) may take until it is made to (SIGKILL). */
  graceMs: number;
}

export const DEFAULT_BOUNDS: CommandBounds = { outputBytes: 64 * 1024, graceMs: 2000 };

/** A command that was started, and the ways of the place where it runs. */
export interface Launched {
  child: ChildProcess;
  /** Asks all its processes to end. Must not throw. */
  askToEnd(): void;
  /** Ends all its processes, also those left over after its end. Must not throw. */
  kill(): Promise<void>;
  /** What the end of `child` says about the command; throws `unavailable` when the command never ran. */
  explain(exit: Exit): Pick<CommandEnd, 'exitCode' | 'signal'>;
  /** Takes back what the start has made; called once nothing of the command is left. Must not throw. */
  dispose(): Promise<void>;
}

export interface Exit {
  code: number | null;
  signal: string | null;
}

/** Processes that even SIGKILL does not end (in a hanging file system) are waited for no longer. */
const UNKILLABLE_MS = 5000;

/** What `promise` resolves with, or undefined after `ms`. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const giveUp = new AbortController();
  try {
    return await Promise.race([promise, delay(ms, undefined, { signal: giveUp.signal })]);
  } finally {
    giveUp.abort();
  }
}

function exitOf(child: ChildProcess): { exited: Promise<Exit>; closed: Promise<void> } {
  return {
    exited: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    }),
    closed: new Promise((resolve) => {
      child.once('close', () => resolve());
    }),
  };
}

/** Resolves with why the command must stop before its end; never rejects. */
function stopRequest(
  timeoutMs: number,
  signal: AbortSignal,
  over: AbortSignal,
): Promise<'timeout' | 'abort'> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('timeout'), timeoutMs);
    const abort = () => resolve('abort');
    signal.addEventListener('abort', abort, { once: true });
    over.addEventListener('abort', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
    if (signal.aborted) abort();
  });
}

/** Asks, waits for the grace, then kills; resolves with the signal that it took. */
async function stop(launched: Launched, exited: Promise<Exit>, graceMs: number): Promise<NodeJS.Signals> {
  launched.askToEnd();
  if ((await within(exited, graceMs)) !== undefined) return 'SIGTERM';
  await launched.kill();
  await within(exited, UNKILLABLE_MS);
  return 'SIGKILL';
}

/**
 * Sees a started command to its end, its time or its abort, and ends what is left of it. Rejects with the reason of
 * `signal`, or what `explain` throws.
 */
export async function runLaunched(
  launched: Launched,
  options: { timeoutMs: number; signal: AbortSignal; bounds: CommandBounds },
): Promise<CommandEnd> {
  const { child } = launched;
  const { bounds, signal } = options;
  const startedAt = performance.now();
  const over = new AbortController();
  const output = createBoundedOutput(bounds.outputBytes);
  child.stdout?.on('data', (chunk: Buffer) => output.add(chunk));
  const { exited, closed } = exitOf(child);
  try {
    const first = await Promise.race([exited, stopRequest(options.timeoutMs, signal, over.signal)]);
    const stoppedBy = typeof first === 'string' ? await stop(launched, exited, bounds.graceMs) : null;
    await launched.kill();
    await within(closed, UNKILLABLE_MS);
    if (first === 'abort') throw signal.reason;
    const end = first === 'timeout' ? { exitCode: null, signal: stoppedBy } : launched.explain(first);
    const durationMs = Math.round(performance.now() - startedAt);
    return { ...end, timedOut: first === 'timeout', ...output.take(), durationMs };
  } finally {
    over.abort();
    // A process that got away may hold the pipe for ever.
    child.stdout?.destroy();
    await launched.dispose();
  }
}
