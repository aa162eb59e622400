import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { SIMULATED } from '../show.ts';
import { safeJson } from '../text.ts';
import { jobArgument } from './arguments.ts';
import { withExamples } from './help.ts';

async function results(jobId: string, flags: ServerFlags, { terminal, config }: Context): Promise<void> {
  await withServer(config(), flags, async (client) => {
    // The lines are data and carry no mark of their own.
    const { simulated } = await client.jobs.result(jobId);
    if (simulated) terminal.message(SIMULATED);
    for await (const line of client.jobs.results(jobId)) await terminal.data(`${safeJson(line)}\n`);
  });
}

/** `crewboard results JOB`: one line of JSON a task, in plan order. */
export function addResults(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('results')
      .description('Print one line of JSON a task, in plan order, at any time')
      .argument('<job>', 'the job ID', jobArgument)
      .option('--json', 'the same: results are always JSON lines'),
  ).action((jobId: string, options: ServerFlags) => results(jobId, options, context));
  withExamples(command, [
    'crewboard results job_4kx9m2ab7ycd > results.jsonl',
    'crewboard results job_4kx9m2ab7ycd | jq \'select(.status == "failed")\'',
  ]);
}
