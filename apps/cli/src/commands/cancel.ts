import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { showJob } from '../show.ts';
import { safeJson } from '../text.ts';
import { jobArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface CancelOptions extends ServerFlags {
  reason?: string;
  json?: true;
}

async function cancel(jobId: string, options: CancelOptions, { terminal, config }: Context): Promise<void> {
  const job = await withServer(config(), options, (client) => client.jobs.cancel(jobId, options.reason));
  if (options.json) await terminal.data(`${safeJson(job)}\n`);
  else terminal.message(showJob(job));
}

/** `crewboard cancel JOB`: nothing new starts, running calls end. */
export function addCancel(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('cancel')
      .description('Cancel a job; what is completed stays')
      .argument('<job>', 'the job ID', jobArgument)
      .option('--reason <text>', "why, for the job's log")
      .option('--json', 'print the job as JSON'),
  ).action((jobId: string, options: CancelOptions) => cancel(jobId, options, context));
  withExamples(command, ['crewboard cancel job_4kx9m2ab7ycd --reason "wrong folder"']);
}
