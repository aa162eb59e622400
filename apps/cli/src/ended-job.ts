import type { Client } from '@crewboard/client';
import type { Job } from '@crewboard/contracts';
import { EXIT, type ExitCode } from './failure.ts';
import { SIMULATED, showResult } from './show.ts';
import type { Terminal } from './terminal.ts';
import { safeJson } from './text.ts';

/** Prints the result of a job that has ended, and returns the exit code that says whether it succeeded. */
export async function showEnded(
  client: Client,
  job: Job,
  json: boolean,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const result = await client.jobs.result(job.id, { signal });
  if (result.simulated) terminal.message(SIMULATED);
  await terminal.data(`${json ? safeJson(result) : showResult(job, result)}\n`);
  if (!json) terminal.message(`Each task's result: crewboard results ${job.id}`);
  return job.status === 'succeeded' ? EXIT.ok : EXIT.failed;
}

/** What to say when nobody follows a job any more. */
export function goesOn(jobId: string): string {
  return `${jobId} goes on; cancel it with \`crewboard cancel ${jobId}\`, get results with \`crewboard results ${jobId}\``;
}
