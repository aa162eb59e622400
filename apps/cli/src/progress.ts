import type { Client } from '@crewboard/client';
import type { Job } from '@crewboard/contracts';
import { atMostEvery } from './at-most-every.ts';
import { type EventLines, eventLines } from './event-lines.ts';
import { showProgress } from './show.ts';
import type { Terminal } from './terminal.ts';

/** Redrawn on a terminal; a line each time, so rarer, in a pipe. */
const REDRAW_MS = 250;
const LINE_MS = 1000;
/** A job that never rests long enough for an exact count gets one that may be a little ahead, after so many tries. */
const EXACT_TRIES = 5;

/** What a job's counts are read from, and where its story has got to. */
interface Story {
  client: Client;
  jobId: string;
  lines: EventLines;
  /** The last event whose lines are out. */
  told(): string | undefined;
}

/**
 * Reads the job; undefined when that fails, which is no news: the event stream tells when the server is really gone.
 * With `exact` also undefined when it knows of more events than have been told: its counts would be ahead of the
 * lines that explain them.
 */
async function readJob(story: Story, exact: boolean, signal: AbortSignal): Promise<Job | undefined> {
  const { client, jobId, told } = story;
  const before = told();
  const job = await client.jobs.get(jobId, { signal }).catch(() => undefined);
  if (!exact || job === undefined) return job;
  if (before === undefined) return undefined;
  const newer = await client.jobs
    .listEvents(jobId, { after: before, limit: 1 }, { signal })
    .catch(() => undefined);
  return newer?.asOf === before ? job : undefined;
}

/** Shows the job's state now and then: on a terminal redrawn below the lines, in a pipe as a line among them. */
function stateDisplay(story: Story, terminal: Terminal, signal: AbortSignal) {
  let shown = '';
  let tries = 0;
  async function look(): Promise<void> {
    const exact = !terminal.isInteractive && story.lines.isDetailed() && tries < EXACT_TRIES;
    const job = await readJob(story, exact, signal);
    if (job === undefined) {
      tries += 1;
      display.request();
      return;
    }
    tries = 0;
    const line = showProgress(job);
    if (line === shown) return;
    shown = line;
    if (terminal.isInteractive) terminal.status(line);
    else terminal.message(line);
  }
  const display = atMostEvery(terminal.isInteractive ? REDRAW_MS : LINE_MS, look);
  return display;
}

/**
 * Follows a job until it has ended and returns it then. Shows how its tasks are planned, claimed and completed, its
 * failures, blocks and pauses, how long calls of its models are held back, and the counts as they change. Rejects when the server is lost for good, or with the
 * reason of `signal`.
 */
export async function followJob(
  client: Client,
  jobId: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Job> {
  const lines = eventLines(client, jobId, signal);
  let told: string | undefined;
  const display = stateDisplay({ client, jobId, lines, told: () => told }, terminal, signal);
  let isAway = false;
  const onReconnect = () => {
    const line = 'The server does not answer: reconnecting ...';
    if (terminal.isInteractive) terminal.status(line);
    // Once for all tries, where nothing is redrawn.
    else if (!isAway) terminal.message(line);
    isAway = true;
  };
  const events = client.jobs.events(jobId, { signal, onResync: display.request, onReconnect });
  try {
    for await (const event of events) {
      isAway = false;
      for (const line of await lines.linesFor(event)) terminal.message(line);
      told = event.id;
      display.request();
    }
  } finally {
    await display.end();
    terminal.status(undefined);
  }
  signal.throwIfAborted();
  return client.jobs.get(jobId, { signal });
}
