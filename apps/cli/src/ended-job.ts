import type { Client } from '@crewboard/client';
import type { Job } from '@crewboard/contracts';
import { nextCommands, readFailed, showFailed } from './failed-tasks.ts';
import { EXIT, type ExitCode } from './failure.ts';
import { printText } from './print-text.ts';
import { SIMULATED, showResult } from './show.ts';
import type { Terminal } from './terminal.ts';
import { safeJson } from './text.ts';

/**
 * Prints the result of a job that has ended, names what failed and the next command, and returns the exit code that says
 * whether it succeeded.
 */
export async function showEnded(
  client: Client,
  job: Job,
  json: boolean,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const result = await client.jobs.result(job.id, { signal });
  const failed = await readFailed(client, job, signal);
  if (json) {
    // There it is a field among many, and people see what came over a pipe alone.
    if (result.simulated) terminal.message(SIMULATED);
    await terminal.data(`${safeJson(result)}\n`);
  } else {
    const columns = terminal.dataColumns();
    const list = failed.length === 0 ? undefined : showFailed(job, failed, columns);
    await printText(terminal, showResult(job, result, { failed: list, columns }));
    if (job.counts.total > 0) terminal.message(`Each task's result: \`crewboard results ${job.id}\``);
  }
  const next = nextCommands(job, failed);
  if (next !== undefined) terminal.message(next);
  return job.status === 'succeeded' ? EXIT.ok : EXIT.failed;
}

/** What to say when nobody follows a job any more. */
export function goesOn(jobId: string): string {
  return `${jobId} goes on; cancel it with \`crewboard cancel ${jobId}\`, get results with \`crewboard results ${jobId}\``;
}
