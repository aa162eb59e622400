import type { Client } from '@crewboard/client';
import type { Job } from '@crewboard/contracts';
import { eventLines } from './event-lines.ts';
import { showState } from './show.ts';
import type { Terminal } from './terminal.ts';

/** Redrawn on a terminal; a line each time, so rarer, in a pipe. */
const REDRAW_MS = 250;
const LINE_MS = 1000;
/** Up to this many tasks each completed one gets a line; beyond, people watch the counts. */
const DETAILED_TASKS = 60;

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
  let job = await client.jobs.get(jobId, { signal });
  const look = async () => {
    // A failing look is no news: the event stream tells when the server is really gone.
    job = await client.jobs.get(jobId, { signal }).catch(() => job);
    const line = showState(job);
    if (line === shown) return;
    shown = line;
    if (terminal.isInteractive) terminal.status(line);
    else terminal.message(line);
  };
  const display = atMostEvery(terminal.isInteractive ? REDRAW_MS : LINE_MS, look);
  const lineFor = eventLines(client, jobId, signal);
  try {
    for await (const event of client.events(jobId, { signal, onResync: display.request })) {
      const line = await lineFor(event, job.counts.total <= DETAILED_TASKS);
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
