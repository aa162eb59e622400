import type { Client } from '@crewboard/client';
import { CrewboardError, isEnded, type Job } from '@crewboard/contracts';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { goesOn, showEnded } from '../ended-job.ts';
import { EXIT, type ExitCode, Interrupted } from '../failure.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { followJob } from '../progress.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import type { Terminal } from '../terminal.ts';
import { safeJson } from '../text.ts';
import { newestRunning, watchJob } from '../watch/watch-job.ts';
import { jobArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface WatchOptions extends ServerFlags {
  json?: true;
}

async function findJob(client: Client, jobId: string | undefined): Promise<Job> {
  if (jobId !== undefined) return client.jobs.get(jobId);
  const job = await newestRunning(client);
  if (job !== undefined) return job;
  throw new CrewboardError(
    'invalid_argument',
    'none of the newest jobs is running: name one (`crewboard ls` lists them)',
  );
}

/** In a pipe the lines of change are what was asked for: data, so that they can be filtered and kept. */
function inPipe(terminal: Terminal): Terminal {
  return {
    ...terminal,
    isInteractive: false,
    status() {},
    message: (line) => void terminal.data(`${line}\n`),
  };
}

/** Draws the job on a terminal, where q calls `quit`; tells of it line by line in a pipe. */
async function follow(
  client: Client,
  jobId: string,
  { terminal, quit }: { terminal: Terminal; quit: () => void },
  signal: AbortSignal,
): Promise<Job> {
  const screen = terminal.openScreen();
  if (screen === undefined) return followJob(client, jobId, inPipe(terminal), signal);
  screen.onQuit(quit);
  try {
    return await watchJob(client, jobId, { screen, hasColour: terminal.colours.messages }, signal);
  } finally {
    screen.close();
  }
}

/** Prints the job's events, from the first one, as JSON lines; ends like the job. */
async function printEvents(
  client: Client,
  jobId: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  let isLost = false;
  const onReconnect = () => {
    if (!isLost) terminal.message('The server does not answer: reconnecting ...');
    isLost = true;
  };
  for await (const event of client.jobs.events(jobId, { signal, onReconnect })) {
    isLost = false;
    await terminal.data(`${safeJson(event)}\n`);
  }
  signal.throwIfAborted();
  const { status } = await client.jobs.get(jobId, { signal });
  return status === 'succeeded' ? EXIT.ok : EXIT.failed;
}

async function watch(
  client: Client,
  { id, status }: Job,
  json: boolean,
  { config, terminal }: Context,
): Promise<ExitCode> {
  const interrupt = listenForInterrupt(config().npmScript);
  const quit = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, quit.signal]);
  try {
    if (json) return await printEvents(client, id, terminal, signal);
    const job = isEnded(status)
      ? await client.jobs.get(id, { signal })
      : await follow(client, id, { terminal, quit: () => quit.abort() }, signal);
    return await showEnded(client, job, false, terminal, signal);
  } catch (error) {
    if (quit.signal.aborted) throw new Interrupted(goesOn(id));
    if (signal.aborted) throw new Interrupted(`interrupted: ${goesOn(id)}`);
    terminal.message(`Can't follow the job any more: ${goesOn(id)}`);
    throw error;
  } finally {
    interrupt.release();
  }
}

/** `crewboard watch [JOB]`: the live board, until the job has ended or the watcher goes. */
export function addWatch(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('watch')
      .description(
        'Draw the live board of a job until it has ended (q leaves it before), then print its result (exit code 0 only if it succeeded)',
      )
      .argument('[job]', 'the job ID; without it the newest job that has not ended', jobArgument)
      .option('--json', 'print each event as a line of JSON instead, from the first one'),
  ).action(async (jobId: string | undefined, options: WatchOptions) => {
    const code = await withServer(context.config(), options, async (client) =>
      watch(client, await findJob(client, jobId), options.json === true, context),
    );
    context.exitWith(code);
  });
  withExamples(command, [
    'crewboard watch',
    'crewboard watch job_4kx9m2ab7ycd',
    "crewboard watch job_4kx9m2ab7ycd --json | jq -r '.type'",
  ]);
}
