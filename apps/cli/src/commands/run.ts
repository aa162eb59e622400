import type { Client } from '@crewboard/client';
import { CrewboardError, type JobBody } from '@crewboard/contracts';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, Interrupted } from '../failure.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { readJobFile } from '../job-file.ts';
import { followJob } from '../progress.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { SIMULATED, showResult } from '../show.ts';
import { safeJson } from '../text.ts';
import { withExamples } from './help.ts';

interface RunOptions extends ServerFlags {
  workspace?: string;
  json?: true;
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
    const result = await client.jobs.result(id, { signal: interrupt.signal });
    if (result.simulated) terminal.message(SIMULATED);
    await terminal.data(`${json ? safeJson(result) : showResult(job, result)}\n`);
    if (!json) terminal.message(`Each task's result: crewboard results ${id}`);
    return job.status === 'succeeded' ? EXIT.ok : EXIT.failed;
  } catch (error) {
    const goesOn = `${id} goes on; cancel it with \`crewboard cancel ${id}\`, get results with \`crewboard results ${id}\``;
    if (interrupt.signal.aborted) throw new Interrupted(`interrupted: ${goesOn}`);
    terminal.message(`Can't follow the job any more: ${goesOn}`);
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
      .argument('<file>', 'the job as JSON; - reads stdin')
      .option('--workspace <dir>', "the folder to work in, instead of the job file's workspace.path")
      .option('--json', 'print the result as JSON'),
  ).action(async (file: string, options: RunOptions) => context.exitWith(await run(file, options, context)));
  withExamples(command, [
    'crewboard run examples/docs-review.json',
    'crewboard run job.json --workspace ../site',
    'crewboard run job.json --json | jq .output',
  ]);
}
