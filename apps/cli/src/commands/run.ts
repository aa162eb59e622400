import type { Client } from '@crewboard/client';
import { CrewboardError, type JobBody } from '@crewboard/contracts';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { goesOn, showEnded } from '../ended-job.ts';
import { type ExitCode, Interrupted } from '../failure.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { readJobFile } from '../job-file.ts';
import { followJob } from '../progress.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import type { Terminal } from '../terminal.ts';
import { pathArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface RunOptions extends ServerFlags {
  workspace?: string;
  json?: true;
}

/** What a person at the terminal wants of the job after Ctrl-C; a second Ctrl-C, and all but "yes", leave it running. */
async function leave(
  client: Client,
  jobId: string,
  terminal: Terminal,
  force: AbortSignal,
): Promise<Interrupted> {
  const answer = await terminal.ask(`Interrupted. Cancel ${jobId}, too? [y/N]`, force);
  if (answer !== undefined && /^y(es)?$/i.test(answer.trim())) {
    await client.jobs.cancel(jobId, 'cancelled at the command line', { signal: force });
    return new Interrupted(`interrupted: ${jobId} is cancelled; what is completed stays`);
  }
  return new Interrupted(`interrupted: ${goesOn(jobId)}`);
}

async function submitAndFollow(
  client: Client,
  body: JobBody,
  json: boolean,
  { config, terminal }: Context,
): Promise<ExitCode> {
  const { id } = await client.jobs.submit(body);
  terminal.message(`Submitted ${id}`);
  const interrupt = listenForInterrupt(config().npmScript);
  try {
    const job = await followJob(client, id, terminal, interrupt.signal);
    return await showEnded(client, job, json, terminal, interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) throw await leave(client, id, terminal, interrupt.force);
    terminal.message(`Can't follow the job any more: ${goesOn(id)}`);
    throw error;
  } finally {
    interrupt.release();
  }
}

async function run(file: string, options: RunOptions, context: Context): Promise<ExitCode> {
  const body = await readJobFile(file, options.workspace);
  if (body.dryRun)
    throw new CrewboardError(
      'invalid_argument',
      `${file} says dryRun, and a dry run makes no job to follow: use \`crewboard submit --dry-run\``,
    );
  return withServer(context.config(), options, (client) =>
    submitAndFollow(client, body, options.json === true, context),
  );
}

/** `crewboard run FILE`: submit, follow, print the result. */
export function addRun(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('run')
      .description(
        'Submit a job, follow it to its end and print its result (exit code 0 only if it succeeded)',
      )
      .argument('<file>', 'the job as JSON; - reads stdin', pathArgument)
      .option(
        '--workspace <dir>',
        "the folder to work in, instead of the job file's workspace.path",
        pathArgument,
      )
      .option('--json', 'print the result as JSON'),
  ).action(async (file: string, options: RunOptions) => context.exitWith(await run(file, options, context)));
  withExamples(command, [
    'crewboard run examples/docs-review.json',
    'crewboard run job.json --workspace ../site',
    'crewboard run job.json --json | jq .output',
  ]);
}
