import { CancelBody, isEnded, type Job } from '@crewboard/contracts';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../failure.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { showJob, showState } from '../show.ts';
import { safeJson } from '../text.ts';
import { jobArgument, parsedBy } from './arguments.ts';
import { withExamples } from './help.ts';

interface CancelOptions extends ServerFlags {
  reason?: string;
  json?: true;
}

/** What is said of a job that was cancelled now or before, or that ended first. */
function showCancelled(job: Job, hadEnded: boolean): string {
  if (job.status !== 'cancelled' && isEnded(job.status))
    return `${job.id} had ended already, so nothing is cancelled: ${showState(job)}`;
  return hadEnded ? `${job.id} was cancelled already: ${showState(job)}` : showJob(job);
}

/** Cancelling twice is as good as once; a job that ended otherwise can't be cancelled any more. */
async function cancel(
  jobId: string,
  options: CancelOptions,
  { terminal, config, exitWith }: Context,
): Promise<void> {
  const { job, hadEnded } = await withServer(config(), options, async (client) => {
    const before = await client.jobs.get(jobId);
    if (isEnded(before.status)) return { job: before, hadEnded: true };
    return { job: await client.jobs.cancel(jobId, options.reason), hadEnded: false };
  });
  if (isEnded(job.status) && job.status !== 'cancelled') exitWith(EXIT.failed);
  if (options.json) await terminal.data(`${safeJson(job)}\n`);
  else terminal.message(showCancelled(job, hadEnded));
}

/** `crewboard cancel JOB`: nothing new starts, running calls end. */
export function addCancel(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('cancel')
      .description('Cancel a job; what is completed stays (exit code 1 if it had ended otherwise)')
      .argument('<job>', 'the job ID', jobArgument)
      .option('--reason <text>', "why, for the job's log", parsedBy(CancelBody.shape.reason.unwrap()))
      .option('--json', 'print the job as JSON'),
  ).action((jobId: string, options: CancelOptions) => cancel(jobId, options, context));
  withExamples(command, ['crewboard cancel job_4kx9m2ab7ycd --reason "wrong folder"']);
}
