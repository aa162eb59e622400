import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { duration, safeJson, safeLine, table } from '../text.ts';
import { withExamples } from './help.ts';

interface LsOptions extends ServerFlags {
  json?: true;
}

async function ls(options: LsOptions, { terminal, config }: Context): Promise<void> {
  const list = await withServer(config(), options, (client) => client.jobs.list());
  if (options.json) return terminal.data(`${safeJson(list)}\n`);
  for (const { id, reason } of list.unreadable ?? [])
    terminal.message(`${id} can't be read: ${safeLine(reason, 300)}`);
  if (list.jobs.length === 0 && list.unreadable !== undefined) return;
  if (list.jobs.length === 0) return terminal.message('No jobs yet: crewboard run FILE submits one');
  const rows = list.jobs.map((job) => [
    job.id,
    job.status,
    `${job.counts.completed}/${job.counts.total}`,
    job.counts.failed,
    `${duration(Date.now() - Date.parse(job.createdAt))} ago`,
    `${job.simulated ? '(simulated) ' : ''}${safeLine(job.title, 60)}`,
  ]);
  await terminal.data(`${table([['JOB', 'STATUS', 'DONE', 'FAILED', 'CREATED', 'TITLE'], ...rows])}\n`);
  if (list.nextCursor !== undefined) terminal.message(`The newest ${rows.length} of more.`);
}

/** `crewboard ls`: the jobs that the key may see. */
export function addLs(program: Command, context: Context): void {
  const command = withServerFlags(
    program.command('ls').description('List jobs, newest first').option('--json', 'print the list as JSON'),
  ).action((options: LsOptions) => ls(options, context));
  withExamples(command, ['crewboard ls', "crewboard ls --json | jq -r '.jobs[].id'"]);
}
