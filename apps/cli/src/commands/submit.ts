import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { showDryRun } from '../dry-run.ts';
import { readJobFile } from '../job-file.ts';
import { printText } from '../print-text.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { safeJson } from '../text.ts';
import { pathArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface SubmitOptions extends ServerFlags {
  workspace?: string;
  dryRun?: true;
  json?: true;
}

async function submit(file: string, options: SubmitOptions, context: Context): Promise<void> {
  const { terminal } = context;
  const body = await readJobFile(file, options.workspace);
  if (options.dryRun || body.dryRun) {
    const answer = await withServer(context.config(), options, (client) => client.jobs.dryRun(body));
    return options.json ? terminal.data(`${safeJson(answer)}\n`) : printText(terminal, showDryRun(answer));
  }
  const answer = await withServer(context.config(), options, (client) => client.jobs.submit(body));
  await terminal.data(`${options.json ? safeJson(answer) : answer.id}\n`);
  terminal.message(`Submitted; get results with \`crewboard results ${answer.id}\``);
}

/** `crewboard submit FILE`: submit and return at once. */
export function addSubmit(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('submit')
      .description('Submit a job and print its ID without waiting for it')
      .argument('<file>', 'the job as JSON; - reads stdin', pathArgument)
      .option(
        '--workspace <dir>',
        "the folder to work in, instead of the job file's workspace.path",
        pathArgument,
      )
      .option('--dry-run', 'say what the submit would do, and store nothing')
      .option('--json', "print the server's answer as JSON"),
  ).action((file: string, options: SubmitOptions) => submit(file, options, context));
  withExamples(command, [
    'crewboard submit job.json',
    'crewboard submit job.json --dry-run',
    'id=$(crewboard submit job.json)',
  ]);
}
