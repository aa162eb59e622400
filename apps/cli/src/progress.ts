import type { Client } from '@crewboard/client';
import type { BoardEvent, Job } from '@crewboard/contracts';
import { showState } from './show.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';

/** Redrawn on a terminal; a line each time, so rarer, in a pipe. */
const REDRAW_MS = 250;
const LINE_MS = 1000;

function dataText(event: BoardEvent, name: string): string | undefined {
  const value = event.data?.[name];
  return typeof value === 'string' ? safeLine(value, 160) : undefined;
}

/** What a person should see of `event` even when much happens, or undefined. */
export function notableLine(event: BoardEvent): string | undefined {
  const reason = dataText(event, 'reason') ?? dataText(event, 'class');
  const subject = dataText(event, 'title') ?? event.taskId ?? event.jobId;
  const because = reason === undefined ? '' : `: ${reason}`;
  switch (event.type) {
    case 'task.failed':
      return event.status === 'pending' ? `will retry ${subject}${because}` : `failed ${subject}${because}`;
    case 'task.blocked':
    case 'task.unreachable':
    case 'task.expired':
    case 'job.paused':
    case 'job.resumed':
      return `${event.type.split('.')[1]} ${subject}${because}`;
    default:
      return undefined;
  }
}

/** Runs `action` now and then: at most once in `intervalMs`, and once more after the last request. */
function atMostEvery(
  intervalMs: number,
  action: () => Promise<void>,
): { request(): void; end(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let lastAt = Number.NEGATIVE_INFINITY;
  let running = Promise.resolve();
  const run = () => {
    timer = undefined;
    lastAt = performance.now();
    running = action();
  };
  return {
    request() {
      timer ??= setTimeout(run, Math.max(0, lastAt + intervalMs - performance.now()));
    },
    async end() {
      clearTimeout(timer);
      await running;
    },
  };
}

/**
 * Follows a job until it has ended and returns it then. Shows counts as they change, and failures, blocks and
 * pauses as lines. Rejects when the server is lost for good, or with the reason of `signal`.
 */
export async function followJob(
  client: Client,
  jobId: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Job> {
  let shown = '';
  const show = async () => {
    // A failing look is no news: the event stream tells when the server is really gone.
    const job = await client.jobs.get(jobId, { signal }).catch(() => undefined);
    const line = job && showState(job);
    if (line === undefined || line === shown) return;
    shown = line;
    if (terminal.isInteractive) terminal.status(line);
    else terminal.message(line);
  };
  const display = atMostEvery(terminal.isInteractive ? REDRAW_MS : LINE_MS, show);
  try {
    for await (const event of client.events(jobId, { signal, onResync: display.request })) {
      const line = notableLine(event);
      if (line !== undefined) terminal.message(line);
      display.request();
    }
  } finally {
    await display.end();
    terminal.status(undefined);
  }
  signal.throwIfAborted();
  return client.jobs.get(jobId, { signal });
}
