import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { startArguments } from './programs.ts';

/** Starting takes about a second alone, and many on a busy machine. */
const READY_WITHIN_MS = 60_000;
const LOG_WITHIN_MS = 30_000;

/** One structured log entry of a service. */
export type LogEntry = Readonly<Record<string, unknown>>;

/** A real process of `crewboard api`, `worker` or `embedded-redis`; disposing kills it, also when it is stopped. */
export interface ServiceProcess extends AsyncDisposable {
  readonly pid: number;
  /** Where it listens; undefined for a worker. */
  readonly url: string | undefined;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** The structured log so far. */
  readonly log: readonly LogEntry[];
  /** Every line that it wrote, to standard output and error. */
  readonly lines: readonly string[];
  /** Resolves with the first log entry, old or new, that `matches`; rejects when none comes in time. */
  logged(matches: (entry: LogEntry) => boolean): Promise<LogEntry>;
  send(signal: 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
}

function parseEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  const parsed: unknown = JSON.parse(line);
  return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
}

/** Collects what the process writes, and tells those who wait for an entry. */
function collectLog(child: ChildProcess) {
  const entries: LogEntry[] = [];
  const lines: string[] = [];
  const waiters = new Set<(entry: LogEntry) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      const entry = parseEntry(line);
      if (entry === undefined) return;
      entries.push(entry);
      for (const tell of waiters) tell(entry);
    });
  }
  return {
    entries,
    lines,
    tail: () => lines.slice(-20).join('\n'),
    logged(matches: (entry: LogEntry) => boolean): Promise<LogEntry> {
      const known = entries.find(matches);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        const tell = (entry: LogEntry) => {
          if (!matches(entry)) return;
          end();
          resolve(entry);
        };
        const timer = setTimeout(() => {
          end();
          reject(new Error(`no such log entry came; the last lines are:\n${lines.slice(-20).join('\n')}`));
        }, LOG_WITHIN_MS);
        const end = () => {
          clearTimeout(timer);
          waiters.delete(tell);
        };
        waiters.add(tell);
      });
    },
  };
}

/** The first message over IPC: services say there that they serve, and where, or why they can't. */
function firstMessage(child: ChildProcess): Promise<{ type?: unknown; url?: unknown; detail?: unknown }> {
  return new Promise((resolve) => {
    child.once('message', (message) => resolve(typeof message === 'object' ? { ...message } : {}));
  });
}

/**
 * Starts `crewboard <command>` with `variables` as its whole environment and resolves when it serves.
 * Its IPC channel closes when this process dies in any way, upon which it ends by itself.
 */
export async function startService(
  command: 'api' | 'worker' | 'embedded-redis',
  variables: Readonly<Record<string, string>>,
  cwd: string,
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [...startArguments('crewboard'), command], {
    cwd,
    env: { ...variables },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const log = collectLog(child);
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code ?? 'unknown'));
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const late = AbortSignal.timeout(READY_WITHIN_MS);
  const first = await Promise.race([
    firstMessage(child),
    ended.then((how) => ({ type: 'ended', url: undefined, detail: how })),
    new Promise<{ type: string; url: undefined; detail: string }>((resolve) => {
      late.addEventListener('abort', () => resolve({ type: 'late', url: undefined, detail: 'not ready' }));
    }),
  ]);
  if (first.type !== 'ready' || child.pid === undefined) {
    await kill();
    throw new Error(
      `${command} did not start (${String(first.type)}: ${String(first.detail)})\n${log.tail()}`,
    );
  }
  return {
    pid: child.pid,
    url: typeof first.url === 'string' ? first.url : undefined,
    ended,
    log: log.entries,
    lines: log.lines,
    logged: log.logged,
    send(signal) {
      child.kill(signal);
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
